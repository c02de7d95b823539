import { availableParallelism } from "node:os";
import { FRAME_S } from "../src/audio/format.ts";
import { embeddedCheckpoint } from "../src/catalogue/installed-checkpoint.ts";
import { KOKORO_LABELS, KOKORO_STARTS } from "../src/catalogue/kokoro-cast.ts";
import { loadTextTables } from "../src/text/tables.ts";
import { createWorkerPool, type WorkerPool } from "../src/workers/worker-pool.ts";
import { harvardSentences, written } from "./harvard.ts";
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

/** Plays one stream: a frame is late that is not there when the one before has been heard. */
async function played(pool: WorkerPool): Promise<{ late: number; frames: number; firstS: number }> {
  const beganMs = performance.now();
  const speech = pool.speak(plainScript(text, "0"), new AbortController().signal);
  let [firstMs, late, frames] = [0, 0, 0];
  for (let step = await speech.next(); !step.done; step = await speech.next()) {
    const nowMs = performance.now();
    if (frames === 0) firstMs = nowMs;
    const dueMs = firstMs + frames * FRAME_S * 1_000 + late * FRAME_S * 1_000;
    if (nowMs > dueMs + SLACK_MS) late += 1;
    frames += 1;
    // No further ahead of its listener than a server lets it be.
    const aheadMs = dueMs + FRAME_S * 1_000 - nowMs - AHEAD_MS;
    if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs));
  }
  return { late, frames, firstS: (firstMs - beganMs) / 1_000 };
}

/** A frame that comes this much late is still hidden by what a player holds back. */
const SLACK_MS = 80;
const AHEAD_MS = 1_000;

const pool = await createWorkerPool({
  entry: new URL("../src/engines/kokoro/model.js", import.meta.url),
  create: {
    folder,
    voiceDir,
    labels: KOKORO_LABELS,
    starts: KOKORO_STARTS,
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
