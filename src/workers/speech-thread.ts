import { type ResourceLimits, Worker } from "node:worker_threads";
import type { Encoding } from "../audio/encode/encoder.ts";
import type { Clip, Turn } from "../core/conversation.ts";
import type { ChosenVoice, Script, VoicePart } from "../core/script.ts";
import { SpeechFailedError } from "../core/speech-model.ts";
import type { GuardedThread, ThreadGroup } from "./calls/thread-group.ts";
import { HostUtterance } from "./host-utterance.ts";
import { fromWireError, type ThreadData, type ToHost } from "./protocol.ts";
import { Watchdog } from "./watchdog.ts";

export interface SpeechThreadOptions {
  readonly data: Omit<ThreadData, "gate">;
  readonly threads: ThreadGroup;
  /** Frames that an utterance may be ahead of its consumer. */
  readonly creditFrames: number;
  readonly resourceLimits: ResourceLimits;
  /** Time limit for creating the model, in milliseconds. */
  readonly startTimeoutMs: number;
  /** Interval of pings, and how long an answer may take, in milliseconds. */
  readonly pingMs: number;
  readonly stallMs: number;
  /** How long `close` waits for the model before it ends the thread by force, in milliseconds. */
  readonly closeGraceMs: number;
  /** Called when the thread ended, for any reason. Its utterances have failed by then. */
  readonly onExit: (error: SpeechFailedError) => void;
  /** Called when the thread hangs and was given up. Its utterances have failed by then. */
  readonly onHung: (error: SpeechFailedError) => void;
}

/** Host side of one thread with one model. */
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
  /** Resolves when the model is created; rejects if that fails, or the thread ends or hangs first. */
  readonly ready: Promise<void>;

  /** @throws the system's error if it cannot start a thread */
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

  /** Open utterances. */
  get load(): number {
    return this.#utterances.size;
  }

  /** Whether it made progress at the last check. */
  get isAnswering(): boolean {
    return this.#watchdog.isAnswering;
  }

  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** @param encoding file format; `null` for raw frames */
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
      // Credit is granted in halves of `creditFrames`, so that a thread wakes once for several frames.
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
   * Fails open utterances, lets the model close unless the thread does not answer, and ends the thread. Resolves when
   * it has ended, or will once it leaves native code.
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

  /** Ends the thread as a crash between two frames would. */
  async crash(): Promise<void> {
    this.worker.end();
    await this.worker.exited;
  }

  #receive(message: ToHost): void {
    if (message.kind === "ready") {
      clearTimeout(this.#starting);
      this.#markReady();
    } else if (message.kind === "unusable") this.#death ??= new Error(message.message);
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

  #giveUp(why: string): void {
    const error = this.#lose(new Error(why));
    this.#options.threads.giveUp(this.worker);
    this.#options.onHung(error);
  }

  /** Fails everything. The first reason counts. */
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

/** Message with the buffers to transfer. */
export interface Packed<T> {
  readonly packed: T;
  readonly transfer: readonly ArrayBuffer[];
}

/**
 * Prepares clips for another thread: transfers those that are given away, and copies others. Transferred memory
 * counts in one thread at a time, so that an idle one keeps none. The receiver may release it.
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

/** Copies the recordings in a voice for another thread. */
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

/** Returns the samples in an unshared buffer. */
function ownSamples({ samples, isGivenAway }: Clip): Float32Array<ArrayBuffer> {
  const { buffer } = samples;
  const isWhole = buffer instanceof ArrayBuffer && samples.byteLength === buffer.byteLength;
  return isGivenAway === true && isWhole ? new Float32Array(buffer) : new Float32Array(samples);
}
