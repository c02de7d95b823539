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

let silero: ReturnType<typeof openSilero> | undefined;
let smartTurn: ReturnType<typeof openSmartTurn> | undefined;
const openedSilero = () => (silero ??= openSilero(folder));
const openedSmartTurn = () => (smartTurn ??= openSmartTurn(folder));

answerCalls(
  {
    async load() {
      await Promise.all([openedSilero(), openedSmartTurn()]);
    },
    async detectActivity(windows: Float32Array, state: SileroState) {
      return await (await openedSilero())(windows, state);
    },
    async judgeTurn(turn: Float32Array<ArrayBuffer>) {
      const probability = await (await openedSmartTurn())(turn);
      // Otherwise 512 kB stay until the next full garbage collection, which may be an hour away.
      freeMemory(turn.buffer);
      return probability;
    },
  },
  (thrown) => (thrown instanceof Error ? thrown.message : String(thrown)),
);
