import { parentPort } from "node:worker_threads";
import type { Answer, Order } from "./protocol.ts";

/**
 * The far side of `ThreadCalls`: carries out one call after the other, as they come: the near side sends one at a time.
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
  parentPort?.on("message", async ({ id, operation, parameters }: Order) => {
    const given = await answer(id, operations[operation]!, parameters);
    parentPort?.postMessage(given, "value" in given ? transferOf(given.value) : []);
  });

  async function answer(
    id: number,
    work: (...parameters: never[]) => unknown,
    parameters: readonly unknown[],
  ): Promise<Answer> {
    try {
      return { id, value: await work(...(parameters as never[])) };
    } catch (thrown) {
      return { id, thrown: toWire(thrown) };
    }
  }
}
