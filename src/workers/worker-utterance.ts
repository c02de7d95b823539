import { FRAME_S, SAMPLE_RATE_HZ } from "../audio/format.ts";
import type { Turn } from "../core/conversation.ts";
import { encodedSpeech } from "../core/encoded-speech.ts";
import { freeClips, freeSamples } from "../core/free-memory.ts";
import type { TextPiece } from "../core/marked-text.ts";
import type { ChosenVoice } from "../core/script.ts";
import {
  type EncodedPiece,
  type Frame,
  SpeechFailedError,
  type SpeechModel,
  type SpeechReport,
} from "../core/speech-model.ts";
import type { OpenMessage, TextItem } from "./protocol.ts";

/** What becomes of an utterance, as it happens. */
export interface WorkerUtteranceEvents {
  onPull(): void;
  /** One or several, in order. Their buffers are the receiver's. */
  onFrames(frames: readonly (Frame | EncodedPiece)[]): void;
  onEnd(report: SpeechReport): void;
  /** The model threw. Not called for an utterance that was stopped. */
  onFail(thrown: unknown): void;
  /** It may have become able to go on. */
  onRunnable(): void;
  /** Now, in milliseconds, on any steady clock. */
  now(): number;
}

/** So many frames are told at once, at most. */
const MAX_TOLD = 4;
/** While more is computed, what was is kept back up to this part of what the listener has before it. */
const KEPT_PART = 1 / 4;
const FRAME_MS = 1_000 * FRAME_S;

/** One utterance inside a thread: a model's generator, the credit it may compute on, and when its next frame is due. */
export class WorkerUtterance {
  readonly #generator: AsyncGenerator<Frame | EncodedPiece, SpeechReport, void>;
  readonly #analyseHistory: () => Promise<void>;
  readonly #events: WorkerUtteranceEvents;
  readonly #inbox: TextInbox;
  readonly #stop = new AbortController();
  /** Pieces that have come for a model that waits: handed over when it is this utterance's turn. */
  readonly #held: TextItem[] = [];
  /** Computed, and not told of yet. */
  #made: (Frame | EncodedPiece)[] = [];
  readonly #history: readonly Turn[];
  readonly #voice: ChosenVoice;
  #credit: number;
  #dueMs: number;
  #inFlight = false;
  #over = false;
  #hasSpoken = false;
  #release = (): void => {};

  constructor(model: SpeechModel, message: OpenMessage, events: WorkerUtteranceEvents) {
    const { encoding, credit } = message;
    const { history, speaker, voice, textVoices, preset, seed, keyId = "" } = message.script;
    this.keyId = keyId;
    this.#history = history;
    this.#voice = voice ?? [];
    this.#events = events;
    this.#credit = credit;
    this.#dueMs = events.now();
    this.#inbox = new TextInbox({ onPull: events.onPull, onWait: () => this.#pauseForText() });
    const text = { [Symbol.asyncIterator]: () => this.#inbox };
    const speech = model.speak({ ...message.script, text }, this.#stop.signal);
    this.#generator = encoding === null ? speech : encodedSpeech(speech, encoding, seed);
    const isSilent =
      history.every(({ audio }) => audio === null) && voice === undefined && textVoices === undefined;
    const heard = {
      ...{ history, speaker, preset },
      ...(voice === undefined ? {} : { voice }),
      ...(textVoices === undefined ? {} : { textVoices }),
    };
    this.#analyseHistory = async () => {
      if (!isSilent) await model.analyseHistory?.(heard, this.#stop.signal);
    };
  }

  /**
   * Lets the model listen to the earlier turns, beside the steps of others. Never throws: what goes wrong comes again in
   * the first step, where it is told.
   */
  async analyseHistory(): Promise<void> {
    await this.#analyseHistory().catch(() => {});
    this.#dueMs = Math.max(this.#dueMs, this.#events.now());
  }

  /** Whose it is. */
  readonly keyId: string;

  /** When the listener needs the next frame, in milliseconds: the frames given so far, played from the start. */
  get dueMs(): number {
    return this.#dueMs;
  }

  get isRunnable(): boolean {
    if (this.#over) return false;
    return this.#inFlight ? this.#held.length > 0 : this.#credit > 0;
  }

  /** Computes until there is one more frame, or the text is waited for, or the utterance is over. Never throws. */
  step(): Promise<void> {
    return new Promise((resolve) => {
      this.#release = resolve;
      if (this.#inFlight) this.#handOver();
      else void this.#advance();
      // A model that plans ahead may wait already, and come to the end of what it has: nobody else is to wait with it.
      if (this.#inbox.isAwaited) resolve();
    });
  }

  /** The consumer took `frames` frames. Who took none for a while is due now, and not for all that time at once. */
  grant(frames: number): void {
    if (this.#credit === 0) this.#dueMs = Math.max(this.#dueMs, this.#events.now());
    this.#credit += frames;
    this.#events.onRunnable();
  }

  deliver(item: TextItem): void {
    if (!this.#inFlight || !this.#inbox.isAwaited) {
      this.#inbox.deliver(item);
      return;
    }
    this.#dueMs = Math.max(this.#dueMs, this.#events.now());
    this.#held.push(item);
    this.#events.onRunnable();
  }

  /** Stops the model within the frame that it computes. Nothing is told of the utterance any more. */
  stop(reason: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#made = [];
    this.#stop.abort(reason);
    this.#inbox.abort(reason);
    // Queued behind the frame in the making, if there is one; an idle generator is let go at once.
    this.#generator.return({ stop: "finished", spoken: "" }).catch(() => {});
  }

  async #advance(): Promise<void> {
    this.#inFlight = true;
    try {
      const result = await this.#generator.next();
      if (!this.#over) this.#tell(result);
    } catch (thrown) {
      if (!this.#over) {
        this.#over = true;
        this.#tellMade();
        this.#events.onFail(thrown);
      }
    } finally {
      this.#inFlight = false;
      this.#handOver();
      this.#release();
      this.#events.onRunnable();
    }
  }

  #tell(result: IteratorResult<Frame | EncodedPiece, SpeechReport>): void {
    if (result.done) {
      this.#over = true;
      this.#tellMade();
      this.#events.onEnd(result.value);
    } else {
      // What was listened to is heard by now; the generator would keep it to its end.
      if (!this.#hasSpoken) {
        freeClips(this.#history);
        freeSamples(this.#voice);
      }
      this.#hasSpoken = true;
      this.#credit -= 1;
      this.#dueMs += (1_000 * sampleCountOf(result.value)) / SAMPLE_RATE_HZ;
      this.#made.push(owned(result.value));
      if (!this.#mayKeep()) this.#tellMade();
    }
  }

  /** Whether what was made can wait for the next frame, so that its consumer is woken less often. */
  #mayKeep(): boolean {
    if (this.#made.length >= MAX_TOLD || this.#credit === 0 || this.#inbox.isAwaited) return false;
    return FRAME_MS * this.#made.length <= KEPT_PART * (this.#dueMs - this.#events.now());
  }

  #tellMade(): void {
    if (this.#made.length === 0) return;
    this.#events.onFrames(this.#made);
    this.#made = [];
  }

  #pauseForText(): void {
    this.#tellMade();
    this.#release();
  }

  #handOver(): void {
    for (const item of this.#held.splice(0)) this.#inbox.deliver(item);
  }
}

/** Views into a larger buffer are copied out: the engine may write there again, and a transfer would take it away. */
function owned(frame: Frame | EncodedPiece): Frame | EncodedPiece {
  const array = "samples" in frame ? frame.samples : frame.bytes;
  if (array.byteLength === array.buffer.byteLength) return frame;
  return "samples" in frame
    ? { ...frame, samples: frame.samples.slice() }
    : { ...frame, bytes: frame.bytes.slice() };
}

function sampleCountOf(frame: Frame | EncodedPiece): number {
  return "samples" in frame ? frame.samples.length : frame.sampleCount;
}

/** What an inbox tells of its reader. */
export interface TextInboxEvents {
  /** A piece is wanted that nobody has asked for yet. */
  onPull(): void;
  /** The reader waits for a piece. */
  onWait(): void;
}

interface Waiter {
  resolve(result: IteratorResult<TextPiece, undefined>): void;
  reject(reason: unknown): void;
}

/**
 * A script's text as the model in the thread reads it: a piece is asked for when the model wants it and no sooner, but
 * for the first, which is on its way from the start.
 */
export class TextInbox implements AsyncIterator<TextPiece, undefined> {
  readonly #events: TextInboxEvents;
  readonly #arrived: TextItem[] = [];
  readonly #waiters: Waiter[] = [];
  #asked = 1;
  #wanted = 0;
  #over = false;

  constructor(events: TextInboxEvents) {
    this.#events = events;
  }

  /** Whether the reader waits for a piece just now. */
  get isAwaited(): boolean {
    return this.#waiters.length > 0;
  }

  next(): Promise<IteratorResult<TextPiece, undefined>> {
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject };
      if (this.#over) return resolve({ done: true, value: undefined });
      this.#wanted += 1;
      if (this.#wanted > this.#asked) {
        this.#asked += 1;
        this.#events.onPull();
      }
      const item = this.#arrived.shift();
      if (item !== undefined) return this.#hand(waiter, item);
      this.#waiters.push(waiter);
      this.#events.onWait();
    });
  }

  async return(): Promise<IteratorResult<TextPiece, undefined>> {
    this.#over = true;
    return { done: true, value: undefined };
  }

  /** Takes in the answer to the oldest pull that has none. */
  deliver(item: TextItem): void {
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#arrived.push(item);
    else this.#hand(waiter, item);
  }

  /** Ends the reader's waits with `reason`. */
  abort(reason: unknown): void {
    this.#over = true;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(reason);
  }

  #hand(waiter: Waiter, item: TextItem): void {
    if (typeof item === "object") {
      waiter.resolve({ done: false, value: item.piece });
      return;
    }
    this.#over = true;
    for (const each of [waiter, ...this.#waiters.splice(0)]) {
      if (item === "end") each.resolve({ done: true, value: undefined });
      else each.reject(new SpeechFailedError("the source of the text failed"));
    }
  }
}
