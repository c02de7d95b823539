/**
 * Told by a model around each call into native code. A thread that is ended in the middle of one takes the whole
 * process along (onnxruntime throws where nobody catches), so that its host has to know.
 */
export interface NativeCallGuard {
  /** Does not return in a thread that is to end. */
  enter(): void;
  /** Called once for each `enter`. Does not return in a thread that is to end. */
  leave(): void;
}

/** In shared memory, for a thread and its host: how many calls into native code are open, and `SHUT` once it is to end. */
export type NativeGate = Int32Array;

const SHUT = 2 ** 30;

export function createGate(): NativeGate {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** The host's side: the thread counts as in native code from now on, until it leaves. */
export function enterGate(gate: NativeGate): void {
  Atomics.add(gate, 0, 1);
}

/** The thread's side. @param endThread must not return */
export function createGuard(gate: NativeGate, endThread: () => never): NativeCallGuard {
  const leave = (): void => {
    if (Atomics.sub(gate, 0, 1) < SHUT) return;
    Atomics.notify(gate, 0);
    endThread();
  };
  return {
    enter() {
      if (Atomics.add(gate, 0, 1) >= SHUT) leave();
    },
    leave,
  };
}

/**
 * The host's side: native code is not entered any more, and who is in it ends the thread on leaving. Whether the thread
 * is outside of it, and may be ended.
 */
export function shutGate(gate: NativeGate): boolean {
  return (Atomics.or(gate, 0, SHUT) & ~SHUT) === 0;
}

/** Blocks until a thread whose gate is shut is outside of native code, at most until `deadlineMs` of `performance.now`. */
export function awaitOutside(gate: NativeGate, deadlineMs: number): void {
  for (;;) {
    const open = Atomics.load(gate, 0);
    const leftMs = deadlineMs - performance.now();
    if (open === SHUT || leftMs <= 0) return;
    Atomics.wait(gate, 0, open, leftMs);
  }
}
