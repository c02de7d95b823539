import { parentPort } from "node:worker_threads";
import { createGuard, type NativeGate } from "./native-gate.ts";

export interface CallMessage {
  readonly id: number;
  readonly operation: string;
  readonly parameters: readonly unknown[];
  /** Gate entered for a call that may run native code; `null` if it runs none. */
  readonly gate: NativeGate | null;
}

/** Answer: what the operation returned, or what it threw, as `toWire` converts it. */
export type AnswerMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly thrown: unknown };

/**
 * Answers the calls of `ThreadCalls` inside the thread, one after the other.
 *
 * @param operations by name; each returns or throws its answer, or a promise of it
 * @param toWire converts a thrown value, since a clone would lose its class
 * @param transferOf buffers of an answer to transfer. Default: none
 */
export function answerCalls(
  operations: Readonly<Record<string, (...parameters: never[]) => unknown>>,
  toWire: (thrown: unknown) => unknown,
  transferOf: (value: unknown) => ArrayBuffer[] = () => [],
): void {
  parentPort?.on("message", ({ id, operation, parameters, gate }: CallMessage) => {
    const answer = (answered: AnswerMessage, transfer: ArrayBuffer[]): void => {
      // A thread that was given up meanwhile ends here.
      if (gate !== null) createGuard(gate, () => process.exit(1)).leave();
      parentPort?.postMessage(answered, transfer);
    };
    const give = (value: unknown): void => answer({ id, value }, transferOf(value));
    const refuse = (thrown: unknown): void => answer({ id, thrown: toWire(thrown) }, []);
    let value: unknown;
    try {
      value = operations[operation]!(...(parameters as never[]));
    } catch (thrown) {
      refuse(thrown);
      return;
    }
    if (value instanceof Promise) void value.then(give, refuse);
    else give(value);
  });
}
