import type { Worker } from "node:worker_threads";
import { awaitOutside, createGate, type NativeGate, shutGate } from "./native-gate.ts";

/** End of a thread: its error, `null` if it ended by itself. */
export interface ThreadEnd {
  readonly error: Error | null;
  readonly code: number;
}

/** Thread that is ended without aborting the process: from outside, or by itself once it leaves native code. */
export class GuardedThread {
  readonly #worker: Worker;
  readonly gate: NativeGate;
  readonly exited: Promise<ThreadEnd>;

  constructor(worker: Worker, gate: NativeGate) {
    this.#worker = worker;
    this.gate = gate;
    let error: Error | null = null;
    worker.on("error", (thrown: unknown) => {
      error = thrown instanceof Error ? thrown : new Error(String(thrown));
    });
    this.exited = new Promise((resolve) => {
      worker.once("exit", (code) => resolve({ error, code }));
    });
  }

  onMessage<Message>(receive: (message: Message) => void): void {
    this.#worker.on("message", receive);
  }

  post(message: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, [...transfer]);
  }

  /** Ends the thread as soon as it may be; `exited` resolves when it has. */
  end(): void {
    if (shutGate(this.gate)) void this.#worker.terminate();
  }

  /** Ends the thread without keeping the process alive for it. */
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
}

export interface ThreadGroupOptions {
  /** Number of threads that were given up and still run, beyond which no other is started. Default: 4. */
  readonly maxLingering?: number;
  /** Whether its threads run native code, in the middle of which the process must not exit. */
  readonly isNative: boolean;
}

/**
 * Threads of one kind. Limits those that were given up and still run, and delays the process's exit for native code.
 */
export class ThreadGroup {
  readonly #maxLingering: number;
  readonly #isNative: boolean;
  readonly #lingering = new Set<GuardedThread>();

  constructor({ maxLingering = 4, isNative }: ThreadGroupOptions) {
    this.#maxLingering = maxLingering;
    this.#isNative = isNative;
  }

  get lingering(): number {
    return this.#lingering.size;
  }

  get isFull(): boolean {
    return this.#lingering.size >= this.#maxLingering;
  }

  /** @throws the system's error if it cannot start a thread */
  start(create: (gate: NativeGate) => Worker): GuardedThread {
    const gate = createGate();
    const thread = new GuardedThread(create(gate), gate);
    if (this.#isNative) awaitAtExit(thread);
    void thread.exited.then(() => this.#lingering.delete(thread));
    return thread;
  }

  /** Gives up a thread that does not answer: it ends as soon as it may, and lingers until then. */
  giveUp(thread: GuardedThread): void {
    this.#lingering.add(thread);
    thread.letGo();
  }
}

/** Running threads of all groups with native code. */
const nativeThreads = new Set<GuardedThread>();

/** Delays the process's exit while the thread is in native code. */
function awaitAtExit(thread: GuardedThread): void {
  if (nativeThreads.size === 0) process.on("exit", onProcessExit);
  nativeThreads.add(thread);
  void thread.exited.then(() => {
    nativeThreads.delete(thread);
    if (nativeThreads.size === 0) process.off("exit", onProcessExit);
  });
}

/** Ending a thread while onnxruntime runs in it aborts the process, and its exit code would be lost. */
function onProcessExit(): void {
  const deadlineMs = performance.now() + EXIT_TIMEOUT_MS;
  for (const { gate } of nativeThreads) shutGate(gate);
  for (const { gate } of nativeThreads) awaitOutside(gate, deadlineMs);
}

/** For all threads together. */
const EXIT_TIMEOUT_MS = 1_000;
