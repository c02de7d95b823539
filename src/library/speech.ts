import { fromPcm16 } from "../audio/pcm.ts";
import type { Prepared } from "../serving/prepare.ts";
import { NO_OUTCOME, type Outcome } from "../serving/service.ts";
import type { SpokenPiece } from "../serving/spoken-piece.ts";
import { asAntiphonError } from "./errors.ts";
import {
  AntiphonError,
  SAMPLE_RATE,
  type Speech,
  type SpeechEnd,
  type SpeechFrame,
  type SpokenWord,
} from "./types.ts";

/** Some of what is spoken, in one utterance. */
export interface SpeechPart {
  prepare(): Prepared;
}

export interface SpeechParts {
  readonly parts: Iterable<SpeechPart> | AsyncIterable<SpeechPart>;
  speak(prepared: Prepared, signal: AbortSignal): AsyncGenerator<SpokenPiece, Outcome, void>;
  /** Whoever listens. */
  readonly signal: AbortSignal | null;
  readonly closing: AbortSignal;
  /** The text of all parts, where they are several: words are told by their place in it. */
  readonly whole: string | null;
}

/** Seconds between two parts. */
const PAUSE_S = 0.25;

/** Speech that is made as it is taken. */
export function speechOf(asked: SpeechParts): Speech {
  let resolve: (end: SpeechEnd) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const end = new Promise<SpeechEnd>((resolved, rejected) => {
    [resolve, reject] = [resolved, rejected];
  });
  // Whoever only takes the frames is told there.
  end.catch(() => {});
  let isBegun = false;
  const { closing } = asked;
  const closed = () => reject(closing.reason);
  closing.addEventListener("abort", closed, { once: true });
  return {
    end,
    [Symbol.asyncIterator]() {
      if (isBegun)
        throw new AntiphonError(
          "Speech can be gone through once: ask for it again.",
          "invalid_request_error",
        );
      isBegun = true;
      closing.removeEventListener("abort", closed);
      return framesOf(asked, resolve, reject);
    },
  };
}

async function* framesOf(
  { parts, speak, signal, closing, whole }: SpeechParts,
  resolve: (end: SpeechEnd) => void,
  reject: (error: unknown) => void,
): AsyncGenerator<SpeechFrame, void, void> {
  const gone = new AbortController();
  const until = AbortSignal.any([gone.signal, closing, ...(signal === null ? [] : [signal])]);
  const places = whole === null ? null : new Places(whole);
  let samplesBefore = 0;
  let last: SpeechEnd | null = null;
  let speaking: AsyncGenerator<SpokenPiece, Outcome, void> | null = null;
  const texts: string[] = [];
  try {
    until.throwIfAborted();
    for await (const part of parts) {
      if (last !== null) samplesBefore += PAUSE_S * SAMPLE_RATE;
      if (last !== null) yield silence(samplesBefore - PAUSE_S * SAMPLE_RATE);
      const beginS = samplesBefore / SAMPLE_RATE;
      const speech = speak(part.prepare(), until);
      speaking = speech;
      for (;;) {
        const step = await speech.next();
        if (step.done) {
          texts.push(step.value.text);
          const { meta } = step.value;
          const stop = meta.stop === "length" ? "length" : "finished";
          last = { text: "", stop, duration: samplesBefore / SAMPLE_RATE, meta };
          break;
        }
        const { bytes, marks } = step.value;
        const samples = fromPcm16(
          new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)),
        );
        const words = (marks.words ?? []).map(
          (word): SpokenWord => ({
            word: word.word,
            start: word.start + beginS,
            end: word.end + beginS,
            ...(places === null ? { offset: word.offset, length: word.length } : places.next(word)),
          }),
        );
        const start = samplesBefore / SAMPLE_RATE;
        samplesBefore += samples.length;
        yield { samples, start, words };
      }
      if (last.stop === "length") break;
    }
    resolve({ ...last!, text: whole ?? texts.join("") });
  } catch (error) {
    const told = closing.aborted
      ? closing.reason
      : signal?.aborted === true
        ? signal.reason
        : asAntiphonError(error);
    reject(told);
    throw told;
  } finally {
    gone.abort(new Error("nobody takes it any more"));
    // Gives back its place, whether it was left or is over.
    await speaking?.return(NO_OUTCOME).catch(() => {});
    reject(new AntiphonError("The speech was left before its end.", "left"));
  }
}

function silence(fromSample: number): SpeechFrame {
  return { samples: new Float32Array(PAUSE_S * SAMPLE_RATE), start: fromSample / SAMPLE_RATE, words: [] };
}

/** Finds words of parts, in order, in the whole text. */
class Places {
  readonly #text: string;
  /** UTF-16 units and characters that are behind. */
  #units = 0;
  #chars = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next({ word, length }: Pick<SpokenWord, "word" | "length">): Pick<SpokenWord, "offset" | "length"> {
    const at = this.#text.indexOf(word, this.#units);
    if (at >= 0) {
      for (let unit = this.#units; unit < at; unit++) if (!isSecondHalf(this.#text, unit)) this.#chars += 1;
      this.#units = at;
    }
    return { offset: this.#chars, length };
  }
}

function isSecondHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
