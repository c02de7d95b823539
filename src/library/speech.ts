import { fromPcm16 } from "../audio/pcm.ts";
import type { Marks } from "../contract/spoken.ts";
import { type Stopper, stopWith } from "../core/stop-with.ts";
import type { ResolvedRequest } from "../serving/prepare/resolve-request.ts";
import type { ReplyChunk } from "../serving/reply/reply-chunk.ts";
import { ABANDONED_OUTCOME, type SpeechOutcome } from "../serving/reply/speech-service.ts";
import { roundedToMs } from "../serving/transcribe/transcript-formats.ts";
import { asAntiphonError, hasNoWords } from "./errors.ts";
import {
  AntiphonError,
  SAMPLE_RATE,
  type Speech,
  type SpeechEnd,
  type SpeechFrame,
  type SpokenWord,
} from "./types.ts";

/** A word's position in a text, in code points. */
type PlacedWord = Pick<SpokenWord, "word" | "offset" | "length">;

/** A part that is one utterance. */
export interface SpeechPart {
  /** `null` for silence only. */
  readonly prepared: ResolvedRequest | null;
  /** Samples of silence before the next part. */
  readonly pause: number;
  /** Position of a word in the whole text; absent if the part is the whole. */
  readonly place?: (word: PlacedWord) => Pick<SpokenWord, "offset" | "length">;
}

/** Speech of a valid call. */
export interface SpeechPlan {
  readonly parts: AsyncIterable<SpeechPart>;
  readonly signal: AbortSignal | null;
  /** The text of all parts; `null` for a single part. */
  readonly text: string | null;
}

export interface SpeechSource {
  /**
   * Called when the first frame is requested.
   *
   * @param until ends the speech
   * @throws errors of the call
   */
  plan(until: () => AbortSignal): SpeechPlan;
  speak(prepared: ResolvedRequest, signal: AbortSignal): AsyncGenerator<ReplyChunk, SpeechOutcome, void>;
  /** Aborts when everything is closed. */
  readonly closing: AbortSignal;
}

type Frames = AsyncGenerator<SpeechFrame, undefined, void>;
type Speaking = AsyncGenerator<ReplyChunk, SpeechOutcome, void>;

/** Maximum samples of a frame. */
const FRAME_SAMPLES = 1_920;

/** Reason for stopping after the consumer has left, in which case nothing is thrown. */
const LEFT = new AntiphonError("The speech was left before its end.", "left");

/**
 * Speech that is computed as it is consumed. Opens nothing, and is referenced by nothing, before its first frame is
 * requested.
 */
export class SpeechOf implements Speech {
  readonly #source: SpeechSource;
  readonly #frames: Frames;
  readonly #left = new AbortController();
  #isBegun = false;
  #isTaken = false;
  #isEndAwaited = false;
  /** The current utterance. */
  #speaking: Speaking | null = null;
  /** Samples returned so far. */
  #samples = 0;
  readonly #end: Promise<SpeechEnd>;
  #resolve!: (end: SpeechEnd) => void;
  #reject!: (error: unknown) => void;

  constructor(source: SpeechSource) {
    this.#source = source;
    this.#end = new Promise((resolve, reject) => {
      [this.#resolve, this.#reject] = [resolve, reject];
    });
    // Avoids an unhandled rejection: a consumer of the frames gets the same error from them.
    this.#end.catch(() => {});
    this.#frames = this.#run();
  }

  get end(): Promise<SpeechEnd> {
    if (!this.#isBegun && !this.#isEndAwaited) {
      this.#isEndAwaited = true;
      const { closing } = this.#source;
      const onClosing = (): void => this.#reject(closing.reason);
      if (closing.aborted) onClosing();
      else closing.addEventListener("abort", onClosing, { once: true });
    }
    return this.#end;
  }

  next(): Promise<IteratorResult<SpeechFrame, undefined>> {
    return this.#frames.next();
  }

  async return(): Promise<IteratorResult<SpeechFrame, undefined>> {
    this.#reject(LEFT);
    this.#left.abort(LEFT);
    return await this.#frames.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    if (this.#isTaken)
      throw new AntiphonError("Speech can be read only once: make the call again.", "invalid_request");
    this.#isTaken = true;
    return this;
  }

  async *#run(): Frames {
    this.#isBegun = true;
    let stop: Stopper | null = null;
    try {
      const plan = this.#source.plan(() => stop!.signal);
      stop = stopWith([this.#left.signal, this.#source.closing, ...(plan.signal ? [plan.signal] : [])]);
      const { signal } = stop;
      // Ends an utterance that waits for its consumer: a paused generator does not react to the signal.
      const onStop = (): void => {
        this.#reject(signal.reason);
        void this.#speaking?.return(ABANDONED_OUTCOME).catch(() => {});
      };
      signal.addEventListener("abort", onStop, { once: true });
      signal.throwIfAborted();
      yield* this.#partsOf(plan, signal);
    } catch (error) {
      const failure = stop?.signal.aborted === true ? stop.signal.reason : asAntiphonError(error);
      this.#reject(failure);
      if (failure !== LEFT) throw failure;
    } finally {
      stop?.end();
      await this.#speaking?.return(ABANDONED_OUTCOME).catch(() => {});
      this.#reject(LEFT);
    }
    return undefined;
  }

  async *#partsOf({ parts, text: whole }: SpeechPlan, signal: AbortSignal): Frames {
    const texts: string[] = [];
    let pause = 0;
    const cautions = new Set<unknown>();
    let last: Pick<SpeechEnd, "stop" | "meta"> | null = null;
    for await (const part of parts) {
      yield* this.#silence(pause, signal);
      pause = part.pause;
      if (part.prepared === null) continue;
      try {
        const { text, meta } = yield* this.#partOf(part.prepared, part.place, signal);
        texts.push(text);
        if (Array.isArray(meta.cautions)) for (const caution of meta.cautions) cautions.add(caution);
        last = {
          stop: meta.stop === "length" ? "length" : "finished",
          meta: cautions.size === 0 ? meta : { ...meta, cautions: [...cautions] },
        };
        if (last.stop === "length") break;
      } catch (error) {
        // In a long text, a passage without anything to pronounce is a pause.
        if (whole === null || !hasNoWords(error)) throw error;
      }
    }
    if (last === null) throw new AntiphonError(NOTHING, "invalid_request", "text");
    this.#resolve({
      ...last,
      text: whole ?? texts.join(""),
      duration: this.#samples / SAMPLE_RATE,
    });
    return undefined;
  }

  async *#silence(samples: number, signal: AbortSignal): Frames {
    for (let left = samples; left > 0; left -= FRAME_SAMPLES) {
      yield this.#frameOf(new Float32Array(Math.min(left, FRAME_SAMPLES)), {}, 0, undefined);
      signal.throwIfAborted();
    }
    return undefined;
  }

  async *#partOf(
    prepared: ResolvedRequest,
    place: SpeechPart["place"],
    signal: AbortSignal,
  ): AsyncGenerator<SpeechFrame, SpeechOutcome, void> {
    const beginS = this.#samples / SAMPLE_RATE;
    const speaking = this.#source.speak(prepared, signal);
    this.#speaking = speaking;
    for (;;) {
      const step = await speaking.next();
      signal.throwIfAborted();
      if (step.done) return step.value;
      // Copied to an address that 16-bit numbers can be read from.
      const pcm = new Int16Array(step.value.bytes.slice().buffer);
      yield this.#frameOf(fromPcm16(pcm), step.value.marks, beginS, place);
    }
  }

  /** @param beginS start of the part that its events are relative to */
  #frameOf(
    samples: Float32Array,
    { words = [], visemes, phonemes }: Marks,
    beginS: number,
    place: SpeechPart["place"],
  ): SpeechFrame {
    const later = <T extends { readonly start: number; readonly end: number }>(mark: T): T => ({
      ...mark,
      start: roundedToMs(mark.start + beginS),
      end: roundedToMs(mark.end + beginS),
    });
    const start = this.#samples / SAMPLE_RATE;
    this.#samples += samples.length;
    return {
      samples,
      sampleRate: SAMPLE_RATE,
      start,
      words: words.map((word) => ({ ...later(word), ...place?.(word) })),
      ...(visemes === undefined ? {} : { visemes: visemes.map(later) }),
      ...(phonemes === undefined ? {} : { phonemes: phonemes.map(later) }),
    };
  }
}

const NOTHING = "text has nothing speakable: it needs at least one letter or digit.";
