import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSmallTalk } from "../../src/writers/small-talk/small-talk.ts";
import { besideStreams } from "../beside-streams.ts";
import { firstAudioMs } from "../first-audio-ms.ts";
import { runLoad } from "../load/load-job.ts";
import { startServerProcess } from "../load/server-process.ts";
import { tenWords } from "../load/service-speed.ts";
import { residentMb } from "../resident.ts";
import type { Row } from "../row.ts";
import { CACHE } from "../top.ts";
import { authored, LONG_HISTORIES, SHORT_HISTORIES, startWriterServer } from "../writer-server.ts";

/**
 * 100 authored turns with one or three turns of history, one after the other, over the stream, including the
 * gate and the first sentence; then 40 with twenty turns that no request had before.
 */
export const authoredFirstAudio: Row = {
  id: "authored",
  what: "request to first audio of an authored turn, one client, warm: short histories; 20 turns that were never read before",
  goal: "p50 ≤ 50 ms, p95 ≤ 100 ms; p50 ≤ 200 ms",
  async measure({ isQuick }) {
    const server = await startWriterServer();
    try {
      const short = firstAudioMs(
        await runLoad({ ...authored(server, SHORT_HISTORIES), requests: isQuick ? 20 : 100 }),
      );
      const long = firstAudioMs(
        await runLoad({ ...authored(server, LONG_HISTORIES), requests: isQuick ? 8 : 40 }),
      );
      return {
        measured: `p50 ${short.p50.toFixed(0)} ms, p95 ${short.p95.toFixed(0)} ms; p50 ${long.p50.toFixed(0)} ms`,
        isMet: short.p50 <= 50 && short.p95 <= 100 && long.p50 <= 200,
      };
    } finally {
      await server.stop();
    }
  },
};

/**
 * Eight clients as in `streams`, while a ninth has turn after turn written. Underruns are those of the
 * eight.
 */
export const authoredBesideStreams: Row = {
  id: "authored-beside",
  what: "underruns of 8 streams that play in real time for 20 s while one client has turn after turn written",
  goal: "none",
  async measure({ isQuick }) {
    const server = await startWriterServer();
    try {
      const { held, turns, firstAudioMs: p50 } = await besideStreams(server, isQuick ? 5_000 : 20_000);
      return {
        measured: `${held.underruns} in ${held.frames} frames; ${turns} turns written, first audio p50 ${p50?.toFixed(0) ?? "–"} ms`,
        isMet: held.isHeld,
      };
    } finally {
      await server.stop();
    }
  },
};

/**
 * Resident memory after authored turns with long histories, less that of a server without a writer after
 * given words. Loading has the files in the page cache.
 */
export const writerMemory: Row = {
  id: "writer-memory",
  what: "memory that the embedded writer and the gate add to a server; time to load the writer",
  goal: "≤ 200 MB; ≤ 2 s",
  async measure({ isQuick }) {
    await mkdir(CACHE, { recursive: true });
    const config = join(CACHE, "no-writer.json");
    await writeFile(config, JSON.stringify({ writer: { kind: "none" } }));
    const plain = await startServerProcess({ flags: ["--config", config] });
    await runLoad({ ...tenWords(plain, 1), requests: 20 });
    const without = await residentMb(plain.pid);
    await plain.stop();
    const server = await startWriterServer();
    await runLoad({ ...authored(server, LONG_HISTORIES), requests: isQuick ? 8 : 40 });
    const added = (await residentMb(server.pid)) - without;
    await server.stop();
    const loadMs = await timeToLoad();
    return {
      measured: `${added.toFixed(0)} MB; ${(loadMs / 1_000).toFixed(2)} s`,
      isMet: added <= 200 && loadMs <= 2_000,
    };
  },
};

async function timeToLoad(): Promise<number> {
  const began = performance.now();
  const writer = await openSmallTalk();
  const loadMs = performance.now() - began;
  await writer.close();
  return loadMs;
}
