import { fromPcm16 } from "../audio/pcm.ts";
import type { Marks } from "../contract/spoken.ts";
import { type Stopper, stopWith } from "../core/stop-with.ts";
import type { ResolvedRequest } from "../serving/prepare/resolve-request.ts";
import type { ReplyChunk } from "../serving/reply/reply-chunk.ts";
import { ABANDONED_OUTCOME, type SpeechOutcome } from "../serving/reply/speech-service.ts";
import { asAntiphonError } from "./errors.ts";
import { AntiphonError, SAMPLE_RATE, type Speech, type SpeechEnd, type SpeechFrame } from "./types.ts";

/** Speech of a valid call. */
export interface SpeechPlan {
  prepare(): Promise<ResolvedRequest>;
  readonly signal: AbortSignal | null;
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
      yield* this.#framesOf(await plan.prepare(), signal);
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

  async *#framesOf(prepared: ResolvedRequest, signal: AbortSignal): Frames {
    const speaking = this.#source.speak(prepared, signal);
    this.#speaking = speaking;
    for (;;) {
      const step = await speaking.next();
      signal.throwIfAborted();
      if (step.done) {
        const { text, meta } = step.value;
        const stop = meta.stop === "length" ? "length" : "finished";
        this.#resolve({ text, meta, stop, duration: this.#samples / SAMPLE_RATE });
        return undefined;
      }
      // Copied to an address that 16-bit numbers can be read from.
      const pcm = new Int16Array(step.value.bytes.slice().buffer);
      yield this.#frameOf(fromPcm16(pcm), step.value.marks);
    }
  }

  #frameOf(samples: Float32Array, { words = [], visemes, phonemes }: Marks): SpeechFrame {
    const start = this.#samples / SAMPLE_RATE;
    this.#samples += samples.length;
    return {
      ...{ samples, sampleRate: SAMPLE_RATE, start, words },
      ...(visemes === undefined ? {} : { visemes }),
      ...(phonemes === undefined ? {} : { phonemes }),
    };
  }
}
