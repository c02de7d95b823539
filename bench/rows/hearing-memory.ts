import { openWhisper } from "../../src/recognition/whisper/open-whisper.ts";
import { startHearingServer, transcribed } from "../hearing/hearing-server.ts";
import { talkOf } from "../hearing/long-talk.ts";
import { recogniserFolder } from "../hearing/recogniser.ts";
import { runLoad } from "../load/load-job.ts";
import { median } from "../load/percentile.ts";
import { type ServerProcess, startServerProcess } from "../load/server-process.ts";
import { tenWords } from "../load/service-speed.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import { maxResidentMb, residentMb } from "../resident.ts";
import type { Row } from "../row.ts";

/**
 * Resident memory beyond that of a server without weights: loaded, after 20 requests; the highest after 16
 * clips of 30 s; at rest. Loading: median of seven, files in the page cache. Linux only.
 */
export const hearingMemory: Row = {
  id: "hearing-memory",
  what: "memory that the recogniser adds to a server: loaded; the most, with clips of 30 s; at rest after them; time to load it",
  goal: "≤ 250 MB; ≤ 600 MB; –; ≤ 1 s",
  async measure({ isQuick, renderings }) {
    if (process.platform !== "linux") throw new NotMeasuredError("the system does not tell the most memory");
    const clips = await talkOf(renderings, "0", 30, isQuick ? 4 : 16);
    const without = await atRest(await startServerProcess(), async (server) => {
      await speak(server);
      return { idle: await residentMb(server.pid), most: maxResidentMb(server.pid) };
    });
    const withIt = await atRest(await startHearingServer(), async (server) => {
      await speak(server);
      const idle = await residentMb(server.pid);
      for (const clip of clips) await transcribed(server, clip);
      return { idle, most: maxResidentMb(server.pid), after: await residentMb(server.pid) };
    });
    const idle = withIt.idle - without.idle;
    const most = withIt.most - without.most;
    const loadMs = median(await loadTimesMs(isQuick ? 2 : 7));
    return {
      measured: `${idle.toFixed(0)} MB; ${most.toFixed(0)} MB; ${(withIt.after - without.idle).toFixed(0)} MB; ${(loadMs / 1_000).toFixed(2)} s`,
      isMet: idle <= 250 && most <= 600 && loadMs <= 1_000,
    };
  },
};

async function atRest<T>(server: ServerProcess, look: (server: ServerProcess) => Promise<T>): Promise<T> {
  try {
    return await look(server);
  } finally {
    await server.stop();
  }
}

async function speak(server: ServerProcess): Promise<void> {
  await runLoad({ ...tenWords(server, 1), requests: 20 });
}

/** Its thread, the weights (in the page cache from the second on) and the networks; nothing is heard. */
async function loadTimesMs(runs: number): Promise<readonly number[]> {
  const folder = await recogniserFolder();
  const times: number[] = [];
  for (let run = 0; run <= runs; run++) {
    const beganMs = performance.now();
    const recogniser = await openWhisper(folder);
    times.push(performance.now() - beganMs);
    await recogniser.close();
  }
  return times.slice(1);
}
