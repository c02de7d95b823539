import { clearTimeout, setTimeout } from "node:timers";
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";

/** Long enough for a busy machine, and well within the test runner's own limit. */
const DEADLINE_MS = 30_000;
/** Most of what tests wait for happens within so many turns of the event loop; then a wait begins to pause. */
const EAGER_TURNS = 64;
const MAX_PAUSE_MS = 20;

export interface WaitOptions {
  readonly deadlineMs?: number;
}

/**
 * Waits until something is so: a turn of the event loop at a time, and with short pauses when it takes longer or is asked for elsewhere. Fails at
 * its deadline, naming `what` was waited for, also when the question itself is never answered.
 */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  options: WaitOptions = {},
): Promise<void> {
  let isOver = false;
  const watch = async (): Promise<void> => {
    for (let turns = 0; !isOver; turns++) {
      const answer = isSo();
      if (await answer) return;
      // A question that is asked over a wire costs more than a turn.
      const eagerTurns = answer instanceof Promise ? 0 : EAGER_TURNS;
      if (turns < eagerTurns) await turn();
      else await pause(Math.min(turns - eagerTurns, MAX_PAUSE_MS));
    }
  };
  try {
    await within(what, watch(), options);
  } finally {
    isOver = true;
  }
}

/**
 * Waits for a promise, as of an event or of a process's end. Fails at its deadline, naming `what` was waited for. The
 * clock is the real one, also where a test has mocked the timers.
 */
export async function within<T>(
  what: string,
  promise: PromiseLike<T>,
  { deadlineMs = DEADLINE_MS }: WaitOptions = {},
): Promise<T> {
  // Made here, so that its stack leads to whoever waits.
  const error = new Error(`waited ${deadlineMs} ms in vain for ${what}`);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(error), deadlineMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
