import { workerData } from "node:worker_threads";
import { freeMemory } from "../../core/free-memory.ts";
import { answerCalls } from "../../workers/calls/answer-calls.ts";
import { openSilero, openSmartTurn, type SileroState } from "./detection-networks.ts";

export interface DetectionThreadData {
  /** Folder of both networks and their `SHA256SUMS`. */
  readonly folder: string;
}

/** The thread keeps no state between calls, so a replacement can go on with any sound. */
const { folder } = workerData as DetectionThreadData;

let silero: ReturnType<typeof openSilero> | null = null;
let smartTurn: ReturnType<typeof openSmartTurn> | null = null;

answerCalls(
  {
    async load() {
      silero ??= openSilero(folder);
      smartTurn ??= openSmartTurn(folder);
      await Promise.all([silero, smartTurn]);
    },
    async detectActivity(windows: Float32Array, state: SileroState) {
      silero ??= openSilero(folder);
      return await (await silero)(windows, state);
    },
    async judgeTurn(turn: Float32Array<ArrayBuffer>) {
      smartTurn ??= openSmartTurn(folder);
      const probability = await (await smartTurn)(turn);
      // Otherwise 512 kB stay until the next garbage collection, minutes later.
      freeMemory(turn.buffer);
      return probability;
    },
  },
  (thrown) => (thrown instanceof Error ? thrown.message : String(thrown)),
);
