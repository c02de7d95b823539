import type { AudioSource } from "../../src/core/audio-source.ts";
import type { Clip } from "../../src/core/conversation.ts";
import type { RecogniseOptions, Recogniser, Transcript } from "../../src/core/recogniser.ts";
import { segmentOf } from "../recognition/scripted-recogniser.ts";

/** A recognition that a test advances by windows. */
export interface Stepping {
  readonly clip: Clip;
  readonly options: RecogniseOptions;
  readonly signal: AbortSignal;
  /** Transcribes the next 30 s as this text; an empty text is silence. */
  hearWindow(text: string): void;
  finish(): void;
  fail(error: Error): void;
}

const WINDOW_S = 30;

export class SteppedRecogniser implements Recogniser {
  readonly name = "stepped-recogniser";
  readonly memoryBytesPerS = 0;
  readonly canTranslate = false;
  readonly asked: Stepping[] = [];
  readonly #underWay = new Set<Stepping>();

  get underWay(): readonly Stepping[] {
    return [...this.#underWay];
  }

  get digests(): string[] {
    return this.asked.map(({ clip }) => clip.digest);
  }

  async recognise(sound: AudioSource, options: RecogniseOptions, signal: AbortSignal): Promise<Transcript> {
    const clip = await clipIn(sound, signal);
    return await new Promise<Transcript>((resolve, reject) => {
      const texts: string[] = [];
      const { startAtS = 0 } = options;
      const sofar = (): Transcript => ({
        text: texts.filter((text) => text !== "").join(" "),
        language: options.language ?? "en",
        languageProbability: 0.9,
        speechProbability: texts.some((text) => text !== "") ? 0.9 : 0,
        meanLogProbability: -0.25,
        segments: texts.flatMap((text, at) =>
          text === "" ? [] : [segmentOf(text, startAtS + at * WINDOW_S)],
        ),
        transcribedS: Math.min(clip.durationS, startAtS + texts.length * WINDOW_S),
      });
      const over = () => this.#underWay.delete(stepping);
      const stepping: Stepping = {
        clip,
        options,
        signal,
        hearWindow(text) {
          texts.push(text);
          options.onPartial?.(sofar());
        },
        finish() {
          over();
          resolve({ ...sofar(), transcribedS: clip.durationS });
        },
        fail(error) {
          over();
          reject(error);
        },
      };
      signal.addEventListener("abort", () => stepping.fail(signal.reason as Error), { once: true });
      this.#underWay.add(stepping);
      this.asked.push(stepping);
    });
  }

  async close(): Promise<void> {}
}

export function clipOf(digest: string, durationS = 1): Clip {
  return known({ samples: new Float32Array(16), sampleRateHz: 16_000, durationS, digest, isGivenAway: true });
}

const clips = new WeakMap<ArrayBufferLike, Clip>();

/** Registers a clip for {@link clipIn}. */
export function known(clip: Clip): Clip {
  clips.set(clip.samples.buffer, clip);
  return clip;
}

export async function clipIn(sound: AudioSource, signal: AbortSignal): Promise<Clip> {
  const { buffer } = await sound.read(1, signal);
  return clips.get(buffer)!;
}
