import { type ResourceLimits, Worker } from "node:worker_threads";
import { awaitOutside, createGate, shut } from "./native-gate.ts";
import type { ThreadData, ToHost, ToThread } from "./protocol.ts";

/**
 * The bare thread that `thread-entry.ts` runs in, and how it is ended without taking the process along: from outside, unless it
 * is in native code; then by itself, when it comes out.
 */
export class ModelThread {
  readonly #worker: Worker;
  readonly #gate = createGate();
  #error: Error | null = null;

  /** Resolves when the thread has ended, with the reason. */
  readonly exited: Promise<Error>;

  /** @throws what the system says when it has no thread to give. */
  constructor(data: Omit<ThreadData, "gate">, resourceLimits: ResourceLimits) {
    this.#worker = new Worker(new URL("./thread-entry.js", import.meta.url), {
      workerData: { ...data, gate: this.#gate } satisfies ThreadData,
      resourceLimits,
      name: "speech",
      execArgv: [],
    });
    this.#worker.on("error", (error) => {
      this.#error = error instanceof Error ? error : new Error(String(error));
    });
    this.exited = new Promise((resolve) => {
      this.#worker.once("exit", (code) =>
        resolve(this.#error ?? new Error(`its thread ended with code ${code}`)),
      );
    });
  }

  onMessage(receive: (message: ToHost) => void): void {
    this.#worker.on("message", receive);
  }

  post(message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, [...transfer]);
  }

  /** Ends the thread as soon as it may be; `exited` says when it has. */
  end(): void {
    if (shut(this.#gate)) void this.#worker.terminate();
  }

  /** The same, and the process does not wait for it. */
  letGo(): void {
    this.end();
    this.#worker.unref();
  }

  async exitsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const inTime = await Promise.race([this.exited.then(() => true), late]);
    clearTimeout(timer);
    return inTime;
  }

  /** Keeps the thread out of native code from now on: the process is about to end. */
  shut(): void {
    shut(this.#gate);
  }

  /** Blocks until a thread that was shut is outside of native code, at most until `deadlineMs` of `performance.now`. */
  awaitOutside(deadlineMs: number): void {
    awaitOutside(this.#gate, deadlineMs);
  }
}
