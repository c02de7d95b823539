import type { TextPiece } from "../../src/core/marked-text.ts";
import type { Delivery, Script } from "../../src/core/script.ts";
import type { Frame, SpeechModel, SpeechReport } from "../../src/core/speech-model.ts";

/** About ten seconds of speech. */
export const LONG_TEXT =
  "The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background. " +
  "It is easy to tell the depth of a well. These days a chicken leg is a rare dish.";

export const SHORT_TEXT = "Rice is often served in round bowls.";

const DELIVERY: Delivery = {
  temperature: 0,
  acousticTemperature: 0,
  topK: null,
  repetitionPenalty: 3,
  penaltyWindow: 20,
  maxFrames: 512,
  quality: "high",
};

export interface ScriptParts extends Partial<Omit<Script, "text" | "delivery">> {
  readonly text?: TextPiece | AsyncIterable<TextPiece>;
  readonly delivery?: Partial<Delivery>;
}

/** Returns a script with defaults. */
export function scriptOf({ text = SHORT_TEXT, delivery, ...rest }: ScriptParts = {}): Script {
  return {
    history: [],
    speaker: "0",
    preset: {},
    seed: 7n,
    ...rest,
    delivery: { ...DELIVERY, ...delivery },
    text: typeof text === "string" || "written" in text ? new CountedText<TextPiece>([text]) : text,
  };
}

/** Text that counts pulls, and whether its reader released it. */
export class CountedText<T extends TextPiece = string> implements AsyncIterable<T> {
  readonly #pieces: readonly (T | Promise<T>)[];
  pulls = 0;
  isReleased = false;

  constructor(pieces: readonly (T | Promise<T>)[]) {
    this.#pieces = pieces;
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return {
      next: async () => {
        const piece = await this.#pieces[this.pulls++];
        return piece === undefined ? { done: true, value: undefined } : { done: false, value: piece };
      },
      return: async () => {
        this.isReleased = true;
        return { done: true, value: undefined };
      },
    };
  }
}

export interface Spoken {
  readonly frames: readonly Frame[];
  readonly report: SpeechReport;
}

export function never(): AbortSignal {
  return new AbortController().signal;
}

export async function speakAll(model: SpeechModel, parts: ScriptParts = {}): Promise<Spoken> {
  return drain(model.speak(scriptOf(parts), never()));
}

/** Returns the rest of an utterance. */
export async function drain(speech: AsyncGenerator<Frame, SpeechReport, void>): Promise<Spoken> {
  const frames: Frame[] = [];
  for (;;) {
    const next = await speech.next();
    if (next.done) return { frames, report: next.value };
    frames.push(next.value);
  }
}

export function bytesOf(frames: readonly Frame[]): Buffer {
  return Buffer.concat(
    frames.map(({ samples }) => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)),
  );
}
