import { type AudioSource, skipSamples } from "../../core/audio-source.ts";
import { type RecogniseOptions, shiftedSegment, type Transcript } from "../../core/recogniser.ts";
import type { HeardWindow, WindowRequest } from "./listening/window.ts";
import { WINDOW_S } from "./sizes.ts";

/** Has one window heard, that begins at so many seconds of the sound. */
type Hears = (request: WindowRequest, fromS: number) => Promise<HeardWindow>;

/**
 * Hears sound of any length: windows of up to 30 s, one after the other, each from the pause at which the one before
 * ended. The language that is found first holds for the rest. Never holds more of the sound than one window.
 *
 * @param maxS of a longer sound only so much is heard
 */
export async function hearWholeSound(
  sound: AudioSource,
  { task = "transcribe", language, prompt, draft, wantsWords, startAtS = 0, onPartial }: RecogniseOptions,
  maxS: number,
  hear: Hears,
  signal: AbortSignal,
): Promise<Transcript> {
  const { sampleRateHz } = sound;
  // One sample more than a window tells whether the sound goes on.
  const ahead = new Float32Array(WINDOW_S * sampleRateHz + 1);
  let length = 0;
  let left = Math.round(maxS * sampleRateHz);
  let from = await skipSamples(sound, Math.round(startAtS * sampleRateHz), signal);
  left -= from;
  const windows: HeardWindow[] = [];
  let transcript = transcriptOf([], from / sampleRateHz, wantsWords);
  for (;;) {
    for (let isOver = false; !isOver && length < ahead.length && left > 0; ) {
      const samples = await sound.read(Math.min(ahead.length - length, left), signal);
      ahead.set(samples, length);
      length += samples.length;
      left -= samples.length;
      isOver = samples.length === 0;
    }
    if (length === 0) return transcript;
    const isLast = length < ahead.length;
    const heard = await hear(
      {
        // A copy: what is taken to another thread is taken from here.
        samples: ahead.slice(0, Math.min(length, ahead.length - 1)),
        sampleRateHz,
        isLast,
        task,
        language: language ?? transcript.language,
        prompt,
        draft: draft !== null && from === 0 && isLast ? { text: draft.text, language: draft.language } : null,
      },
      from / sampleRateHz,
    );
    const byS = from / sampleRateHz;
    windows.push({ ...heard, segments: heard.segments.map((segment) => shiftedSegment(segment, byS)) });
    const gone = isLast ? length : Math.round(heard.heardS * sampleRateHz);
    ahead.copyWithin(0, gone, length);
    length -= gone;
    from += gone;
    transcript = transcriptOf(windows, from / sampleRateHz, wantsWords);
    onPartial?.(transcript);
    if (isLast) return transcript;
  }
}

function transcriptOf(windows: readonly HeardWindow[], heardS: number, wantsWords: boolean): Transcript {
  const first = windows.find((each) => each.segments.length > 0);
  const all = first === undefined ? [] : windows.flatMap((each) => each.logProbabilities);
  const segments = windows.flatMap((each) => each.segments);
  return {
    text: segments.map(({ text }) => text).join(" "),
    language: first?.language ?? null,
    languageProbability: first?.languageProbability ?? null,
    speechProbability: Math.max(0, ...windows.map((each) => each.speechProbability)),
    meanLogProbability: all.length === 0 ? null : all.reduce((sum, value) => sum + value, 0) / all.length,
    segments: wantsWords ? segments : segments.map((segment) => ({ ...segment, words: null })),
    transcribedS: heardS,
  };
}
