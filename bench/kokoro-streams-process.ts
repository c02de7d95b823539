import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { embeddedCheckpoint } from "../src/models/installed-checkpoint.ts";
import { KOKORO_SPEAKER_VOICES, KOKORO_STARTING_VOICES } from "../src/models/kokoro-voices.ts";
import { loadTextTables } from "../src/text/tables/text-tables.ts";
import { createWorkerPool, type WorkerPool } from "../src/workers/worker-pool.ts";
import { harvardSentences, written } from "./harvard.ts";
import { BUFFER_MS } from "./load/load-job.ts";
import { Playback } from "./load/playback.ts";
import { plainScript } from "./plain-script.ts";

/** What became of streams that are listened to in real time, at once. */
export interface KokoroStreams {
  readonly streams: number;
  readonly lateFrames: number;
  readonly frames: number;
  readonly worstFirstS: number;
}

const [, , folder = ""] = process.argv;
const voiceDir = embeddedCheckpoint.dir;
const threads = availableParallelism();
const text = (await harvardSentences()).slice(0, 6).map(written).join(" ");

/** Plays one stream in real time. */
async function played(pool: WorkerPool): Promise<{ late: number; frames: number; firstS: number }> {
  const playback = new Playback(BUFFER_MS);
  const beganMs = performance.now();
  let [firstMs, late] = [0, 0];
  const speech = pool.speak(plainScript(text, "0"), new AbortController().signal);
  for (let step = await speech.next(); !step.done; step = await speech.next()) {
    const nowMs = performance.now();
    if (playback.frames === 0) firstMs = nowMs - beganMs;
    if (playback.take(nowMs) > 0) late += 1;
    // No further ahead of its listener than a server lets it be.
    const aheadMs = playback.aheadMs(nowMs) - MAX_AHEAD_MS;
    if (aheadMs > 0) await sleep(aheadMs);
  }
  return { late, frames: playback.frames, firstS: firstMs / 1_000 };
}

/** A stream's lead, in milliseconds. */
const MAX_AHEAD_MS = 1_000;

const pool = await createWorkerPool({
  entry: new URL("../src/engines/kokoro/model.js", import.meta.url),
  create: {
    folder,
    voiceDir,
    labels: KOKORO_SPEAKER_VOICES,
    starts: KOKORO_STARTING_VOICES,
    tables: await loadTextTables(voiceDir),
  },
  size: threads,
  extraLoad: 0,
});
await played(pool);
for (let streams = 1; streams <= threads + 1; streams++) {
  const all = await Promise.all(Array.from({ length: streams }, () => played(pool)));
  const result: KokoroStreams = {
    streams,
    lateFrames: all.reduce((sum, { late }) => sum + late, 0),
    frames: all.reduce((sum, { frames }) => sum + frames, 0),
    worstFirstS: Math.max(...all.map(({ firstS }) => firstS)),
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  if (result.lateFrames > 0) break;
}
await pool.close();
