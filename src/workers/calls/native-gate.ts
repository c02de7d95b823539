/**
 * Guard that a model calls around each call into native code. Ending a thread in the middle of one aborts the whole
 * process (onnxruntime throws uncaught), so the host has to know.
 */
export interface NativeCallGuard {
  /** Marks the start of a native call. Does not return in a thread that is to end. */
  enter(): void;
  /** Marks the end of a native call; called once for each `enter`. Does not return in a thread that is to end. */
  leave(): void;
}

/** Shared memory of a thread and its host: the number of open native calls, plus `SHUT` once the thread is to end. */
export type NativeGate = Int32Array;

const SHUT = 2 ** 30;

export function createGate(): NativeGate {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** Counts the thread as in native code until it leaves. Called by the host. */
export function enterGate(gate: NativeGate): void {
  Atomics.add(gate, 0, 1);
}

/** Creates the guard in the thread. @param endThread must not return */
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
 * Forbids further native calls; a thread that is in one ends itself on leaving. Returns whether it is outside and may
 * be ended. Called by the host.
 */
export function shutGate(gate: NativeGate): boolean {
  return (Atomics.or(gate, 0, SHUT) & ~SHUT) === 0;
}

/** Blocks until a thread whose gate is shut leaves native code, at most until `deadlineMs` of `performance.now`. */
export function awaitOutside(gate: NativeGate, deadlineMs: number): void {
  for (;;) {
    const open = Atomics.load(gate, 0);
    const leftMs = deadlineMs - performance.now();
    if (open === SHUT || leftMs <= 0) return;
    Atomics.wait(gate, 0, open, leftMs);
  }
}
