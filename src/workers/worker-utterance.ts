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

export interface WorkerUtteranceEvents {
  onPull(): void;
  /** One or more, in order. Their buffers are given to the receiver. */
  onFrames(frames: readonly (Frame | EncodedPiece)[]): void;
  onEnd(report: SpeechReport): void;
  /** Called when the model threw, unless the utterance was stopped. */
  onFail(thrown: unknown): void;
  /** Called when it may have become runnable. */
  onRunnable(): void;
  /** Returns milliseconds of any steady clock. */
  now(): number;
}

/** Maximum frames per message. */
const MAX_BATCH = 4;
/** Maximum fraction of the listener's lead for which computed frames are held back while more are computed. */
const KEPT_PART = 1 / 4;
const FRAME_MS = 1_000 * FRAME_S;

/** Utterance inside a thread: a model's generator, its credit, and when its next frame is due. */
export class WorkerUtterance {
  readonly #generator: AsyncGenerator<Frame | EncodedPiece, SpeechReport, void>;
  readonly #analyseHistory: () => Promise<void>;
  readonly #events: WorkerUtteranceEvents;
  readonly #inbox: TextInbox;
  readonly #stop = new AbortController();
  /** Pieces of text for a waiting model, delivered in this utterance's turn. */
  readonly #held: TextItem[] = [];
  /** Computed frames that are not sent yet. */
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
   * Lets the model analyse earlier turns alongside other utterances' steps. Never throws: an error recurs in the
   * first step, which reports it.
   */
  async analyseHistory(): Promise<void> {
    await this.#analyseHistory().catch(() => {});
    this.#dueMs = Math.max(this.#dueMs, this.#events.now());
  }

  readonly keyId: string;

  /** Time when the listener needs the next frame, in milliseconds, if the frames so far are played from the start. */
  get dueMs(): number {
    return this.#dueMs;
  }

  get isRunnable(): boolean {
    if (this.#over) return false;
    return this.#inFlight ? this.#held.length > 0 : this.#credit > 0;
  }

  /** Computes until a further frame, a wait for text, or the end. Never throws. */
  step(): Promise<void> {
    return new Promise((resolve) => {
      this.#release = resolve;
      if (this.#inFlight) this.#handOver();
      else void this.#advance();
      // A model that plans ahead may wait already and run out of text: other utterances must not wait with it.
      if (this.#inbox.isAwaited) resolve();
    });
  }

  /** Adds credit for consumed frames. A consumer that paused is due now, and not for all that time at once. */
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

  /** Stops the model within the current frame. No further event is sent. */
  stop(reason: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#made = [];
    this.#stop.abort(reason);
    this.#inbox.abort(reason);
    // Queued after the frame that is computed, if any; an idle generator ends at once.
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
        this.#sendMade();
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
      this.#sendMade();
      this.#events.onEnd(result.value);
    } else {
      // The clips are analysed by now; the generator would keep them to its end.
      if (!this.#hasSpoken) {
        freeClips(this.#history);
        freeSamples(this.#voice);
      }
      this.#hasSpoken = true;
      this.#credit -= 1;
      this.#dueMs += (1_000 * sampleCountOf(result.value)) / SAMPLE_RATE_HZ;
      this.#made.push(owned(result.value));
      if (!this.#mayKeep()) this.#sendMade();
    }
  }

  /** Whether computed frames can wait for the next one, so that the consumer wakes less often. */
  #mayKeep(): boolean {
    if (this.#made.length >= MAX_BATCH || this.#credit === 0 || this.#inbox.isAwaited) return false;
    return FRAME_MS * this.#made.length <= KEPT_PART * (this.#dueMs - this.#events.now());
  }

  #sendMade(): void {
    if (this.#made.length === 0) return;
    this.#events.onFrames(this.#made);
    this.#made = [];
  }

  #pauseForText(): void {
    this.#sendMade();
    this.#release();
  }

  #handOver(): void {
    for (const item of this.#held.splice(0)) this.#inbox.deliver(item);
  }
}

/** Copies views into a larger buffer: the engine may write there again, and a transfer would take it away. */
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

export interface TextInboxEvents {
  /** Called when a further piece is wanted. */
  onPull(): void;
  /** Called when the reader waits for a piece. */
  onWait(): void;
}

interface Waiter {
  resolve(result: IteratorResult<TextPiece, undefined>): void;
  reject(reason: unknown): void;
}

/**
 * Script's text as the model in the thread reads it. A piece is pulled when the model wants it and no sooner, except
 * the first, which comes with the utterance.
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

  /** Delivers the answer to the oldest open pull. */
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
