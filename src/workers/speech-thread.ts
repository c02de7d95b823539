import { type ResourceLimits, Worker } from "node:worker_threads";
import type { Script } from "../model/script.ts";
import { SpeechFailedError } from "../model/speech-model.ts";
import { HostUtterance } from "./host-utterance.ts";
import { awaitOutside, createGate, shut } from "./native-gate.ts";
import { packHistory } from "./pack-history.ts";
import type { GuestData, ToGuest, ToHost } from "./protocol.ts";
import { Pulse } from "./pulse.ts";
import { fromWireError } from "./wire-error.ts";

/** How a thread is started. */
export interface SpeechThreadOptions {
  readonly guest: Omit<GuestData, "gate">;
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
  /** The thread ended: after `close`, or by itself. Its utterances have failed by then. */
  readonly onExit: (error: SpeechFailedError) => void;
  /** The thread hangs, was given up, and is to end. Its utterances have failed by then. */
  readonly onHung: (error: SpeechFailedError) => void;
}

/** One thread with one model in it, from the outside. */
export class SpeechThread {
  readonly #options: SpeechThreadOptions;
  readonly #worker: Worker;
  readonly #utterances = new Map<number, HostUtterance>();
  readonly #exited: Promise<void>;
  readonly #gate = createGate();
  readonly #pulse: Pulse;
  readonly #starting: NodeJS.Timeout;
  #death: Error | null = null;
  #nextId = 0;
  #hasSpoken = false;
  #markReady = (): void => {};
  #markUnusable = (_error: SpeechFailedError): void => {};

  /** Resolves when the model is made; rejects with the reason when it cannot be, or the thread ends or hangs first. */
  readonly ready: Promise<void>;

  constructor(options: SpeechThreadOptions) {
    const { guest, resourceLimits, startTimeoutMs, pingMs, stallMs } = options;
    this.#options = options;
    this.#worker = new Worker(new URL("./guest.js", import.meta.url), {
      workerData: { ...guest, gate: this.#gate } satisfies GuestData,
      resourceLimits,
      name: "speech",
      execArgv: [],
    });
    this.#worker.on("message", (message: ToHost) => this.#receive(message));
    this.#worker.on("error", (error) => {
      this.#death ??= error instanceof Error ? error : new Error(String(error));
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once("exit", (code) => resolve(this.#onExit(code)));
    });
    this.ready = new Promise((resolve, reject) => {
      this.#markReady = resolve;
      this.#markUnusable = reject;
    });
    this.ready.catch(() => {});
    this.#starting = setTimeout(
      () => this.#giveUp(`its thread was not ready within ${startTimeoutMs} ms`),
      startTimeoutMs,
    );
    this.#pulse = new Pulse({
      pingMs,
      stallMs,
      ask: () => this.#post({ kind: "ping" }),
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
    return this.#pulse.isAnswering;
  }

  /** Whether an utterance was ever opened. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
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
        if (!isAbandoned) return;
        this.#post({ kind: "stop", id });
        this.#pulse.begin();
      },
    });
    this.#post({ kind: "open", id, history, speaker, delivery, preset, seed, credit }, transfer);
    this.#utterances.set(id, utterance);
    this.#hasSpoken = true;
    this.#pulse.begin();
    void utterance.pull();
    return utterance;
  }

  /**
   * Fails what is open, lets the model close, and ends the thread; one that does not answer is not asked. Resolves when
   * it has ended, or will once it comes out of native code.
   */
  async close(error: SpeechFailedError): Promise<void> {
    this.#failAll(error);
    this.#pulse.stop();
    this.#post({ kind: "close" });
    const graceMs = this.isAnswering ? this.#options.closeGraceMs : 0;
    if (await this.#exitsWithin(graceMs)) return;
    this.#letGo();
    await this.#exitsWithin(END_MS);
  }

  /**
   * Ends the thread, as a crash between two frames would: from outside, unless it is in native code; then by itself,
   * when it comes out. Resolves when it has ended.
   */
  async end(): Promise<void> {
    if (shut(this.#gate)) void this.#worker.terminate();
    await this.#exited;
  }

  /** Keeps the thread out of native code from now on. */
  shut(): void {
    shut(this.#gate);
  }

  /** Blocks until a thread that was shut is outside of native code, at most until `deadlineMs` of `performance.now`. */
  awaitOutside(deadlineMs: number): void {
    awaitOutside(this.#gate, deadlineMs);
  }

  #receive(message: ToHost): void {
    if (message.kind === "ready") this.#onReady();
    else if (message.kind === "unusable") this.#death ??= new Error(message.message);
    else if (message.kind === "pong") this.#pulse.answered();
    else this.#receiveFor(message, this.#utterances.get(message.id));
  }

  #receiveFor(
    message: Exclude<ToHost, { kind: "ready" | "unusable" | "pong" }>,
    utterance: HostUtterance | undefined,
  ): void {
    if (message.kind === "frame") utterance?.push({ samples: message.samples });
    else if (message.kind === "pull") void utterance?.pull();
    else if (message.kind === "end") utterance?.end(message.report);
    else utterance?.fail(fromWireError(message.error));
  }

  #onReady(): void {
    clearTimeout(this.#starting);
    this.#markReady();
  }

  #giveUp(why: string): void {
    this.#death = new Error(why);
    this.#options.onHung(this.#lose());
    this.#letGo();
  }

  /** Ends the thread, whenever it may; the process need not wait for that. */
  #letGo(): void {
    void this.end();
    this.#worker.unref();
  }

  #onExit(code: number): void {
    this.#death ??= new Error(`its thread ended with code ${code}`);
    this.#options.onExit(this.#lose());
  }

  /** Nothing comes of the thread any more. */
  #lose(): SpeechFailedError {
    const error = new SpeechFailedError(`the speech model stopped: ${this.#death?.message}`);
    clearTimeout(this.#starting);
    this.#pulse.stop();
    this.#markUnusable(error);
    this.#failAll(error);
    return error;
  }

  #failAll(error: SpeechFailedError): void {
    for (const utterance of this.#utterances.values()) utterance.fail(error);
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const inTime = await Promise.race([this.#exited.then(() => true), late]);
    clearTimeout(timer);
    return inTime;
  }

  #post(message: ToGuest, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, [...transfer]);
  }
}

/** How long `close` waits for a thread that it has ended by force, in milliseconds. */
const END_MS = 1_000;
