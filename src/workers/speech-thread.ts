import { type ResourceLimits, Worker } from "node:worker_threads";
import type { Encoding } from "../audio/encode/encoder.ts";
import type { Clip, Turn } from "../core/conversation.ts";
import type { ChosenVoice, Script, VoicePart } from "../core/script.ts";
import { SpeechFailedError } from "../core/speech-model.ts";
import type { GuardedThread, ThreadGroup } from "./calls/thread-group.ts";
import { HostUtterance } from "./host-utterance.ts";
import { fromWireError, type ThreadData, type ToHost } from "./protocol.ts";
import { Watchdog } from "./watchdog.ts";

/** How a thread is started. */
export interface SpeechThreadOptions {
  readonly data: Omit<ThreadData, "gate">;
  /** Those of its pool. */
  readonly threads: ThreadGroup;
  /** Frames that an utterance may be ahead of its consumer. */
  readonly creditFrames: number;
  readonly resourceLimits: ResourceLimits;
  /** How long the thread may take to make its model, in milliseconds. */
  readonly startTimeoutMs: number;
  /** Time between two questions whether it makes progress, and how long it may owe an answer, in milliseconds. */
  readonly pingMs: number;
  readonly stallMs: number;
  /** How long `close` waits for the model to close before it ends the thread by force. */
  readonly closeGraceMs: number;
  /** The thread ended: after `close`, by itself, or after it was given up. Its utterances have failed by then. */
  readonly onExit: (error: SpeechFailedError) => void;
  /** The thread hangs and was given up: it ends as soon as it may. Its utterances have failed by then. */
  readonly onHung: (error: SpeechFailedError) => void;
}

/** One thread with one model in it, from the outside. */
export class SpeechThread {
  readonly #options: SpeechThreadOptions;
  readonly #utterances = new Map<number, HostUtterance>();
  readonly #starting: NodeJS.Timeout;
  readonly #watchdog: Watchdog;
  #death: Error | null = null;
  #nextId = 0;
  #hasSpoken = false;
  #markReady = (): void => {};
  #markUnusable = (_error: SpeechFailedError): void => {};

  readonly worker: GuardedThread;
  /** Resolves when the model is made; rejects with the reason when it cannot be, or the thread ends or hangs first. */
  readonly ready: Promise<void>;

  /** @throws what the system says when it has no thread to give. */
  constructor(options: SpeechThreadOptions) {
    const { data, threads, resourceLimits, startTimeoutMs, pingMs, stallMs } = options;
    this.#options = options;
    this.worker = threads.start((gate) => {
      const workerData: ThreadData = { ...data, gate };
      return new Worker(ENTRY, { workerData, resourceLimits, name: "speech", execArgv: [] });
    });
    this.worker.onMessage((message: ToHost) => this.#receive(message));
    void this.worker.exited.then(({ error, code }) =>
      options.onExit(this.#lose(error ?? new Error(`its thread ended with code ${code}`))),
    );
    this.ready = new Promise((resolve, reject) => {
      this.#markReady = resolve;
      this.#markUnusable = reject;
    });
    this.ready.catch(() => {});
    this.#starting = setTimeout(
      () => this.#giveUp(`its thread was not ready within ${startTimeoutMs} ms`),
      startTimeoutMs,
    );
    this.#watchdog = new Watchdog({
      pingMs,
      stallMs,
      ask: () => this.worker.post({ kind: "ping" }),
      isBusy: () => this.#utterances.size > 0,
      onHung: () => this.#giveUp(`its thread stopped answering for ${stallMs} ms`),
    });
  }

  /** Utterances that the thread still has to compute for. */
  get load(): number {
    return this.#utterances.size;
  }

  /** Whether it makes progress, as far as is known: for an idle thread, that it did. */
  get isAnswering(): boolean {
    return this.#watchdog.isAnswering;
  }

  /** Whether an utterance was ever opened. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** @param encoding what file its pieces are to make; `null`: it comes in frames */
  open(script: Script, encoding: Encoding | null, signal: AbortSignal): HostUtterance {
    const id = this.#nextId++;
    const { text: _text, traceHeaders: _headers, ...spoken } = script;
    const history = packHistory(script.history);
    const voice = script.voice === undefined ? null : packVoice(script.voice);
    const sent = {
      ...spoken,
      history: history.packed,
      ...(voice === null ? {} : { voice: voice.packed }),
    };
    const transfer = [...history.transfer, ...(voice?.transfer ?? [])];
    const credit = this.#options.creditFrames;
    let taken = 0;
    const utterance = new HostUtterance(script, signal, {
      onText: (item) => this.worker.post({ kind: "text", id, item }),
      // By the half, so that a thread is woken once for several frames.
      onTaken: () => {
        taken += 1;
        if (2 * taken < credit) return;
        this.worker.post({ kind: "credit", id, frames: taken });
        taken = 0;
      },
      onSettled: (isAbandoned) => {
        this.#utterances.delete(id);
        if (!isAbandoned) return;
        this.worker.post({ kind: "stop", id });
        this.#watchdog.begin();
      },
    });
    this.worker.post({ kind: "open", id, script: sent, encoding, credit }, transfer);
    this.#utterances.set(id, utterance);
    this.#hasSpoken = true;
    this.#watchdog.begin();
    void utterance.pull();
    return utterance;
  }

  /**
   * Fails what is open, lets the model close, and ends the thread; one that does not answer is not asked. Resolves when
   * it has ended, or will once it comes out of native code.
   */
  async close(error: SpeechFailedError): Promise<void> {
    this.#failAll(error);
    this.#watchdog.stop();
    this.worker.post({ kind: "close" });
    const isWell = this.#death === null && this.isAnswering;
    if (await this.worker.exitsWithin(isWell ? this.#options.closeGraceMs : 0)) return;
    this.worker.letGo();
    await this.worker.exitsWithin(END_MS);
  }

  /** Ends the thread as a crash between two frames would, and resolves when it has. */
  async crash(): Promise<void> {
    this.worker.end();
    await this.worker.exited;
  }

  #receive(message: ToHost): void {
    if (message.kind === "ready") this.#onReady();
    else if (message.kind === "unusable") this.#death ??= new Error(message.message);
    else if (message.kind === "pong") this.#watchdog.answered();
    else this.#receiveFor(message, this.#utterances.get(message.id));
  }

  #receiveFor(
    message: Exclude<ToHost, { kind: "ready" | "unusable" | "pong" }>,
    utterance: HostUtterance | undefined,
  ): void {
    if (message.kind === "frames") utterance?.push(message.frames);
    else if (message.kind === "pull") void utterance?.pull();
    else if (message.kind === "end") utterance?.end(message.report);
    else utterance?.fail(fromWireError(message.error));
  }

  #onReady(): void {
    clearTimeout(this.#starting);
    this.#markReady();
  }

  #giveUp(why: string): void {
    const error = this.#lose(new Error(why));
    this.#options.threads.giveUp(this.worker);
    this.#options.onHung(error);
  }

  /** Nothing comes of the thread any more. The first reason counts. */
  #lose(why: Error): SpeechFailedError {
    this.#death ??= why;
    const error = new SpeechFailedError(`the speech model stopped: ${this.#death.message}`);
    clearTimeout(this.#starting);
    this.#watchdog.stop();
    this.#markUnusable(error);
    this.#failAll(error);
    return error;
  }

  #failAll(error: SpeechFailedError): void {
    for (const utterance of this.#utterances.values()) utterance.fail(error);
  }
}

const ENTRY = new URL("./thread-entry.js", import.meta.url);

/** How long `close` waits for a thread that it has ended by force, in milliseconds. */
const END_MS = 1_000;

/** Something ready to be posted, with the buffers to transfer. */
export interface Packed<T> {
  readonly packed: T;
  readonly transfer: readonly ArrayBuffer[];
}

/**
 * Readies clips for another thread: those that are given away go as they are and are gone here, of others a copy goes.
 * Transferred memory belongs to one thread at a time and counts there, so that no thread that is idle keeps it. Whoever gets
 * the clips may let go of them.
 */
export function packHistory(turns: readonly Turn[]): Packed<readonly Turn[]> {
  const transfer: ArrayBuffer[] = [];
  const packed = turns.map((turn): Turn => {
    if (turn.audio === null) return turn;
    const samples = ownSamples(turn.audio);
    transfer.push(samples.buffer);
    return { ...turn, audio: { ...turn.audio, samples, isGivenAway: true } };
  });
  return { packed, transfer };
}

/** The same of the recordings in a voice, of which a copy goes. */
export function packVoice(voice: ChosenVoice): Packed<ChosenVoice> {
  const transfer: ArrayBuffer[] = [];
  const packed = voice.map((part): VoicePart => {
    if (!("sample" in part)) return part;
    const { clip, text } = part.sample;
    const samples = new Float32Array(clip.samples);
    transfer.push(samples.buffer);
    return { ...part, sample: { clip: { ...clip, samples, isGivenAway: true }, text } };
  });
  return { packed, transfer };
}

/** Samples in a buffer that nobody else uses. */
function ownSamples({ samples, isGivenAway }: Clip): Float32Array<ArrayBuffer> {
  const { buffer } = samples;
  const isWhole = buffer instanceof ArrayBuffer && samples.byteLength === buffer.byteLength;
  return isGivenAway === true && isWhole ? new Float32Array(buffer) : new Float32Array(samples);
}
