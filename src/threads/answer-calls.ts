import { parentPort } from "node:worker_threads";
import type { Answer, Order } from "./protocol.ts";

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
  parentPort?.on("message", ({ id, operation, parameters }: Order) => {
    const give = (value: unknown): void => {
      const answer: Answer = { id, value };
      parentPort?.postMessage(answer, transferOf(value));
    };
    const refuse = (thrown: unknown): void => {
      const answer: Answer = { id, thrown: toWire(thrown) };
      parentPort?.postMessage(answer);
    };
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
