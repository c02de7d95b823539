import type { Clip } from "../../model/conversation.ts";
import { movedSegment } from "../../model/moved-segment.ts";
import type { RecogniseOptions, Transcript } from "../../model/recogniser.ts";
import { WINDOW_S } from "./listening/rate.ts";
import type { HeardWindow, WindowRequest } from "./listening/window.ts";

/**
 * Hears a clip of any length: stretches of up to 30 s, one after the other, each from the pause at which the one before
 * ended. The language that is found first holds for the rest.
 *
 * @param mostS of a longer clip only so much is heard
 */
export async function hearWholeClip(
  clip: Clip,
  { language, prompt, draft, wantsWords, startAtS = 0, onPart }: RecogniseOptions,
  mostS: number,
  hear: (request: WindowRequest) => Promise<HeardWindow>,
): Promise<Transcript> {
  const { sampleRateHz } = clip;
  const samples = clip.samples.subarray(0, Math.round(mostS * sampleRateHz));
  const window = WINDOW_S * sampleRateHz;
  const windows: HeardWindow[] = [];
  let from = Math.min(Math.round(startAtS * sampleRateHz), samples.length);
  let transcript = transcriptOf([], from / sampleRateHz, wantsWords);
  while (from < samples.length) {
    const isLast = samples.length - from <= window;
    const heard = await hear({
      // A copy: what is taken to another thread is taken from here.
      samples: samples.slice(from, from + window),
      sampleRateHz,
      isLast,
      language: language ?? transcript.language,
      prompt,
      draft: draft !== null && from === 0 && isLast ? { text: draft.text, language: draft.language } : null,
    });
    const byS = from / sampleRateHz;
    windows.push({ ...heard, segments: heard.segments.map((segment) => movedSegment(segment, byS)) });
    from = isLast ? samples.length : from + Math.round(heard.heardS * sampleRateHz);
    transcript = transcriptOf(windows, from / sampleRateHz, wantsWords);
    onPart?.(transcript);
  }
  return transcript;
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
    heardS,
  };
}
