import { setTimeout as sleep } from "node:timers/promises";
import { makeKeys } from "../keys.ts";
import { type ServerProcess, startServerProcess } from "../load/server-process.ts";
import { oneClient } from "../load/service-speed.ts";
import { readGauges } from "./gauges.ts";

/** A warm server and keys beside its own, none of which a measurement exhausts. */
export interface CrowdServer extends ServerProcess {
  readonly keys: readonly string[];
}

/** @param limited further keys, with the limits that keys have by default */
export async function startCrowdServer(count: number, limited = 0): Promise<CrowdServer> {
  let keys: readonly string[] = [];
  const server = await startServerProcess({
    prepare: async (dataDir) => {
      const ordinary = await makeKeys(dataDir, limited, { rpm: 60, burst: 60 });
      keys = [...(await makeKeys(dataDir, count)), ...ordinary];
    },
  });
  await oneClient(server, 10);
  return { ...server, keys };
}

/** Resolves when the server speaks and receives for nobody any more. @throws Error when that takes a minute. */
export async function calm({ url }: ServerProcess): Promise<void> {
  for (let looks = 0; looks < 600; looks++) {
    const gauges = await readGauges(url);
    if (BUSY.every((name) => gauges.get(name) === 0)) return;
    await sleep(100);
  }
  throw new Error("a minute after its clients had gone the server was still at work for them");
}

const BUSY = [
  "antiphon_queue_depth",
  "antiphon_active_streams",
  "antiphon_paused_streams",
  "antiphon_receiving_bytes",
  "antiphon_audio_bytes",
];
