import { parentPort } from "node:worker_threads";
import { createGuard, type NativeGate } from "./native-gate.ts";

/** A call as it crosses into the thread. */
export interface CallMessage {
  readonly id: number;
  readonly operation: string;
  readonly parameters: readonly unknown[];
  /** Entered for this call, which may run native code; `null` where it runs none. */
  readonly gate: NativeGate | null;
}

/** Its answer: what the operation returned, or what it threw, as {@link answerCalls} was told to put it. */
export type AnswerMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly thrown: unknown };

/**
 * The far side of `ThreadCalls`: carries out one call after the other.
 *
 * @param operations what can be called, by name; each returns its answer, or a promise of it, or throws
 * @param toWire what crosses the boundary of a thrown value: a clone would lose its class
 * @param transferOf the buffers of an answer that the caller gets as they are; none unless told
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
