import { type ResourceLimits, Worker } from "node:worker_threads";
import type { Script } from "../model/script.ts";
import { SpeechFailedError } from "../model/speech-model.ts";
import { HostUtterance } from "./host-utterance.ts";
import { packHistory } from "./pack-history.ts";
import type { GuestData, ToGuest, ToHost } from "./protocol.ts";
import { fromWireError } from "./wire-error.ts";

/** How a thread is started. */
export interface SpeechThreadOptions {
  readonly guest: Omit<GuestData, "parked">;
  /** Frames that an utterance may be ahead of its consumer. */
  readonly creditFrames: number;
  readonly resourceLimits: ResourceLimits;
  /** How long `close` waits for the model to close before it ends the thread by force. */
  readonly closeGraceMs: number;
  /** The thread ended: after `close`, or by itself. Its utterances have failed by then. */
  readonly onExit: (error: SpeechFailedError) => void;
}

/** One thread with one model in it, from the outside. */
export class SpeechThread {
  readonly #options: SpeechThreadOptions;
  readonly #worker: Worker;
  readonly #utterances = new Map<number, HostUtterance>();
  readonly #exited: Promise<void>;
  readonly #parked = new Int32Array(new SharedArrayBuffer(4));
  #death: Error | null = null;
  #nextId = 0;
  #hasSpoken = false;
  #markReady = (): void => {};

  /** Resolves when the model is made; rejects with the reason when it cannot be, or the thread ends first. */
  readonly ready: Promise<void>;

  constructor(options: SpeechThreadOptions) {
    this.#options = options;
    this.#worker = new Worker(new URL("./guest.js", import.meta.url), {
      workerData: { ...options.guest, parked: this.#parked } satisfies GuestData,
      resourceLimits: options.resourceLimits,
      name: "speech",
      execArgv: [],
    });
    this.#worker.on("message", (message: ToHost) => this.#receive(message));
    this.#worker.on("error", (error) => {
      this.#death = error instanceof Error ? error : new Error(String(error));
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once("exit", (code) => resolve(this.#onExit(code)));
    });
    this.ready = new Promise((resolve, reject) => {
      this.#markReady = resolve;
      void this.#exited.then(() => reject(this.#exitError));
    });
    this.ready.catch(() => {});
  }

  /** Utterances that the thread still has to compute for. */
  get load(): number {
    return this.#utterances.size;
  }

  /** Whether an utterance was ever opened. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  get id(): number {
    return this.#worker.threadId;
  }

  open(script: Script, signal: AbortSignal): HostUtterance {
    const id = this.#nextId++;
    const { delivery, preset, seed, speaker } = script;
    const { history, transfer } = packHistory(script.history);
    const credit = this.#options.creditFrames;
    let taken = 0;
    const utterance = new HostUtterance(script, signal, {
      onText: (item) => this.#post({ kind: "text", id, item }),
      // By the half, so that a thread is woken half as often.
      onTaken: () => {
        taken += 1;
        if (2 * taken < credit) return;
        this.#post({ kind: "credit", id, frames: taken });
        taken = 0;
      },
      onSettled: (isAbandoned) => {
        this.#utterances.delete(id);
        if (isAbandoned) this.#post({ kind: "stop", id });
      },
    });
    this.#post({ kind: "open", id, history, speaker, delivery, preset, seed, credit }, transfer);
    this.#utterances.set(id, utterance);
    this.#hasSpoken = true;
    void utterance.pull();
    return utterance;
  }

  /** Fails what is open, lets the model close, and ends the thread. */
  async close(error: SpeechFailedError): Promise<void> {
    this.#failAll(error);
    this.#post({ kind: "close" });
    const timer = setTimeout(() => void this.#worker.terminate(), this.#options.closeGraceMs);
    await this.#exited;
    clearTimeout(timer);
  }

  /**
   * Ends the thread as a crash between two frames would. It ends itself: a thread that is ended from outside while
   * onnxruntime runs in it takes the whole process along.
   */
  async crash(): Promise<void> {
    this.#post({ kind: "crash" });
    await this.#exited;
  }

  /** Asks the thread to stand still for good, for {@link awaitParked}. */
  park(): void {
    this.#post({ kind: "park" });
  }

  /** Blocks until the thread stands still or is no more, at most `timeoutMs`. */
  awaitParked(timeoutMs: number): void {
    if (this.#death === null) Atomics.wait(this.#parked, 0, 0, timeoutMs);
  }

  #receive(message: ToHost): void {
    if (message.kind === "ready") this.#markReady();
    else if (message.kind === "unusable") this.#death = new Error(message.message);
    else this.#receiveFor(message, this.#utterances.get(message.id));
  }

  #receiveFor(
    message: Exclude<ToHost, { kind: "ready" | "unusable" }>,
    utterance: HostUtterance | undefined,
  ): void {
    if (message.kind === "frame") utterance?.push({ samples: message.samples });
    else if (message.kind === "pull") void utterance?.pull();
    else if (message.kind === "end") utterance?.end(message.report);
    else utterance?.fail(fromWireError(message.error));
  }

  #onExit(code: number): void {
    this.#death ??= new Error(`its thread ended with code ${code}`);
    this.#failAll(this.#exitError);
    this.#options.onExit(this.#exitError);
  }

  get #exitError(): SpeechFailedError {
    return new SpeechFailedError(`the speech model stopped: ${this.#death?.message ?? "its thread ended"}`);
  }

  #failAll(error: SpeechFailedError): void {
    for (const utterance of this.#utterances.values()) utterance.fail(error);
  }

  #post(message: ToGuest, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, [...transfer]);
  }
}
