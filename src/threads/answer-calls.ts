import { parentPort } from "node:worker_threads";
import type { Answer, Order } from "./protocol.ts";

/**
 * The far side of `ThreadCalls`: carries out one call after the other.
 *
 * @param operations what can be called, by name; each returns its answer or throws, synchronously
 * @param toWire what crosses the boundary of a thrown value: a clone would lose its class
 * @param transferOf the buffers of an answer that the caller gets as they are; none unless told
 */
export function answerCalls(
  operations: Readonly<Record<string, (...parameters: never[]) => unknown>>,
  toWire: (thrown: unknown) => unknown,
  transferOf: (value: unknown) => ArrayBuffer[] = () => [],
): void {
  parentPort?.on("message", ({ id, operation, parameters }: Order) => {
    const given = answer(id, operations[operation]!, parameters);
    parentPort?.postMessage(given, "value" in given ? transferOf(given.value) : []);
  });

  function answer(
    id: number,
    work: (...parameters: never[]) => unknown,
    parameters: readonly unknown[],
  ): Answer {
    try {
      return { id, value: work(...(parameters as never[])) };
    } catch (thrown) {
      return { id, thrown: toWire(thrown) };
    }
  }
}
