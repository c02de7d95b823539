import type { Worker } from "node:worker_threads";
import { awaitOutside, createGate, type NativeGate, shutGate } from "./native-gate.ts";

/** How a thread ended: what it died of, `null` where it ended by itself. */
export interface ThreadEnd {
  readonly error: Error | null;
  readonly code: number;
}

/**
 * A thread that is ended without taking the process along: from outside, unless it is in native code; then by itself, when
 * it comes out.
 */
export class GuardedThread {
  readonly #worker: Worker;
  readonly gate: NativeGate;
  /** Resolves when the thread has ended. */
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

  /** Ends the thread as soon as it may be; `exited` says when it has. */
  end(): void {
    if (shutGate(this.gate)) void this.#worker.terminate();
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
}

export interface ThreadGroupOptions {
  /** Threads given up that have not ended, beyond which no other should be started. 4 unless told. */
  readonly maxLingering?: number;
  /** Whether its threads run native code: then the process does not end under any that is in it. */
  readonly isNative: boolean;
}

/**
 * The threads of one kind: those that were given up do not become too many, and the process does not end under any that
 * has not ended.
 */
export class ThreadGroup {
  readonly #maxLingering: number;
  readonly #isNative: boolean;
  readonly #lingering = new Set<GuardedThread>();

  constructor({ maxLingering = 4, isNative }: ThreadGroupOptions) {
    this.#maxLingering = maxLingering;
    this.#isNative = isNative;
  }

  /** Threads that were given up and have not ended. */
  get lingering(): number {
    return this.#lingering.size;
  }

  /** Whether so many were given up and have not ended that no other should be started. */
  get isFull(): boolean {
    return this.#lingering.size >= this.#maxLingering;
  }

  /** @throws what the system says when it has no thread to give. */
  start(create: (gate: NativeGate) => Worker): GuardedThread {
    const gate = createGate();
    const thread = new GuardedThread(create(gate), gate);
    if (this.#isNative) awaitAtExit(thread);
    void thread.exited.then(() => this.#lingering.delete(thread));
    return thread;
  }

  /** A thread does not answer: it ends as soon as it may, and counts as lingering until it has. */
  giveUp(thread: GuardedThread): void {
    this.#lingering.add(thread);
    thread.letGo();
  }
}

/** Threads of all groups that run native code and have not ended. */
const nativeThreads = new Set<GuardedThread>();

/** The process does not end under the thread, if that is in native code. */
function awaitAtExit(thread: GuardedThread): void {
  if (nativeThreads.size === 0) process.on("exit", onProcessExit);
  nativeThreads.add(thread);
  void thread.exited.then(() => {
    nativeThreads.delete(thread);
    if (nativeThreads.size === 0) process.off("exit", onProcessExit);
  });
}

/** A thread that is ended while onnxruntime runs in it aborts the process, and its exit code would be lost. */
function onProcessExit(): void {
  const deadlineMs = performance.now() + EXIT_TIMEOUT_MS;
  for (const { gate } of nativeThreads) shutGate(gate);
  for (const { gate } of nativeThreads) awaitOutside(gate, deadlineMs);
}

/** Of all threads together. */
const EXIT_TIMEOUT_MS = 1_000;
