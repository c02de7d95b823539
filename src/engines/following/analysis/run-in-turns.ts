import type { PriorityMutex } from "../../prosody/priority-mutex.ts";
import type { Work } from "./work.ts";

/** Does work piece by piece, each when its turn comes, so that those who speak go first. @throws the signal's reason */
export async function runInTurns<T>(work: Work<T>, mutex: PriorityMutex, signal: AbortSignal): Promise<T> {
  for (;;) {
    const step = await mutex.pass(async () => work.next(), signal, false);
    if (step.done) return step.value;
    // The event loop goes round once: who has come in meanwhile is seen.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
