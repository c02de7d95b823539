import { setTimeout as sleep } from "node:timers/promises";
import type { BodyRecipe } from "../crowd/body-recipe.ts";
import { type CrowdServer, startCrowdServer } from "../crowd/crowd-server.ts";
import { describeTally, startHostile } from "../crowd/hostile.ts";
import type { HostileGroup } from "../crowd/hostile-job.ts";
import { watchMemory } from "../crowd/memory-watch.ts";
import { firstAudioMs } from "../first-audio-ms.ts";
import { oneClient } from "../load/service-speed.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import { residentKb, residentMb } from "../resident.ts";
import type { Row } from "../row.ts";

/**
 * `VmRSS` every 50 ms for 60 s, while four keys each have 32 long streams, large conversations, unfinished
 * and aborted uploads, and whole replies, of which none is read. Then 6 s after all clients have left; five
 * requests must succeed. Linux only.
 */
export const crowdMemory: Row = {
  id: "crowd-memory",
  what:
    "resident memory at its worst while four keys send what is allowed and takes most memory, and read nothing; idle " +
    "before; after",
  goal: "≤ 1 GB",
  async measure({ isQuick, note }) {
    if (process.platform !== "linux") throw new NotMeasuredError("not measured: it takes Linux's /proc");
    const server = await startCrowdServer(KEYS);
    try {
      const look = async () => (isQuick ? residentKb(server.pid) / 1024 : await residentMb(server.pid));
      const idleMb = await look();
      const hostile = await startHostile(server.url, worstMix(server));
      const watch = watchMemory(server.pid);
      await sleep(isQuick ? 3_000 : 60_000);
      const tally = await hostile.stop();
      await sleep(isQuick ? 0 : SETTLING_MS);
      const afterMb = await look();
      watch.stop();
      // Whoever comes after is served as ever.
      firstAudioMs(await oneClient(server, 5));
      note(describeTally(tally));
      return {
        measured: `${watch.maxMb.toFixed(0)} MB; ${idleMb.toFixed(0)} MB; ${afterMb.toFixed(0)} MB`,
        isMet: watch.maxMb <= 1_000,
      };
    } finally {
      await server.stop();
    }
  },
};

const KEYS = 4;
const SETTLING_MS = 5_000;

/** Every key sends all of it. */
function worstMix({ keys }: CrowdServer): HostileGroup[] {
  return keys.flatMap((key) => SHARES.map((share) => ({ key, pauseMs: 250, ...share })));
}

const MIB = 2 ** 20;
/** The largest that a turn may hold, and what is then left of the largest body. */
const FULL_CLIPS = [25 * MIB, 25 * MIB, 25 * MIB, 20.9 * MIB].map(Math.floor);
const STREAM = { path: "/v1/converse/stream", sends: "all", reads: "nothing", holdMs: 10_000 } as const;

function conversation(clips: readonly number[], bits: 8 | 16, rateHz: number): BodyRecipe {
  return { kind: "audio", clips, bits, rateHz, chars: 8_000 };
}

/** What each key sends. */
const SHARES: readonly (Omit<HostileGroup, "key" | "pauseMs"> & Partial<HostileGroup>)[] = [
  { ...STREAM, name: "text", body: { kind: "text", chars: 8_000, maxNewTokens: 2_048 }, clients: 32 },
  { ...STREAM, name: "8 bit", body: conversation(FULL_CLIPS, 8, 24_000), clients: 2 },
  { ...STREAM, name: "8 bit, 768 kHz", body: conversation([25 * MIB], 8, 768_000), clients: 3 },
  { ...STREAM, name: "16 bit", body: conversation(FULL_CLIPS, 16, 24_000), clients: 2 },
  {
    name: "standing",
    path: "/v1/converse",
    body: { kind: "flat", bytes: 60 * MIB },
    clients: 2,
    sends: "most",
    reads: "everything",
    holdMs: 20_000,
  },
  {
    name: "aborted",
    path: "/v1/converse",
    body: { kind: "flat", bytes: 60 * MIB },
    clients: 4,
    sends: "half",
    reads: "everything",
    holdMs: 0,
    pauseMs: 100,
  },
  {
    name: "whole",
    path: "/v1/tts",
    body: { kind: "text", chars: 8_000, maxNewTokens: 2_048 },
    clients: 4,
    sends: "all",
    reads: "nothing",
    holdMs: 10_000,
  },
];
