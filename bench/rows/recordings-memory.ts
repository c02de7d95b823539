import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BOMBS, LONG_FILES } from "../../test/audio/recordings/bombs.ts";
import { type HearingServer, startHearingServer, transcribed } from "../hearing/hearing-server.ts";
import { talkOf } from "../hearing/long-talk.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import type { RecordingCrowdJob, RecordingCrowdTally } from "../recordings/crowd-job.ts";
import { LONG_SPEECH } from "../recordings/long-speech.ts";
import { upload } from "../recordings/upload.ts";
import type { Renderings } from "../renderings.ts";
import { maxResidentMb, residentMb } from "../resident.ts";
import type { Row } from "../row.ts";
import { startTold } from "../told-process.ts";

/**
 * `VmHWM` with recordings of the largest accepted size or length: first from one client, which leaves after
 * 40 s; then for three minutes from 64 clients of each of 16 keys. Linux only.
 */
export const recordingsMemory: Row = {
  id: "recordings-memory",
  what:
    "resident memory at its worst while recordings that are taken and take most memory come one after the other, and then " +
    "from 16 keys with 64 uploads each at once; by the end of the former; idle before, its recogniser loaded; after",
  goal: "≤ 1 GB",
  async measure({ isQuick, renderings, note }) {
    if (process.platform !== "linux") throw new NotMeasuredError("not measured: it takes Linux's /proc");
    const [clip] = await talkOf(renderings, "0", 5, 1);
    const folder = await mkdtemp(join(tmpdir(), "antiphon-bench-"));
    const server = await startHearingServer({ keys: KEYS });
    try {
      const files = await filesIn(folder, renderings);
      await transcribed(server, clip!);
      const idleMb = await residentMb(server.pid);
      for (const { path } of files) {
        const bytes = await readFile(path);
        await upload({ url: server.url, key: server.key, bytes, leaveAfterMs: isQuick ? 12_000 : 40_000 });
      }
      const singlyMb = maxMbOf(server.pid) ?? Number.NaN;
      const beside = await besideCrowd(server, files, isQuick ? 30_000 : 180_000);
      note(describeTally(beside.tally));
      if (beside.endedAfterS !== null) {
        const measured = `the server ended after ${beside.endedAfterS.toFixed(0)} s, of ${beside.maxMb.toFixed(0)} MB at least`;
        return { measured, isMet: false };
      }
      await sleep(SETTLING_MS);
      const afterMb = await residentMb(server.pid);
      // It may have gone on with what had been sent.
      const maxMb = maxMbOf(server.pid) ?? beside.maxMb;
      return {
        measured: [maxMb, singlyMb, idleMb, afterMb].map((mb) => `${mb.toFixed(0)} MB`).join("; "),
        isMet: maxMb <= 1_000,
      };
    } finally {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

const KEYS = 16;
const CLIENTS_PER_KEY = 64;
const SETTLING_MS = 5_000;
const LOOK_MS = 250;

/** Everything that a key sends, in a folder. */
async function filesIn(folder: string, renderings: Renderings): Promise<RecordingCrowdJob["files"]> {
  const [talk] = await talkOf(renderings, "1", 20, 1);
  const files: { readonly name: string; readonly path: string }[] = [];
  const add = async (name: string, bytes: Uint8Array): Promise<void> => {
    const path = join(folder, `${files.length}`);
    await writeFile(path, bytes);
    files.push({ name, path });
  };
  await add("WAV of 8 kHz", await LONG_SPEECH.WAV(talk!));
  await add("MP3", await LONG_SPEECH.MP3(talk!));
  for (const [name, make] of Object.entries(LONG_FILES)) await add(name, make());
  await add("WebM of empty packets", BOMBS["WebM of empty packets"]());
  return files;
}

/** The most that a server has while they send, and how long it lived where it did not live to their end. */
async function besideCrowd(
  { url, pid, keys }: HearingServer,
  files: RecordingCrowdJob["files"],
  durationMs: number,
) {
  const job: RecordingCrowdJob = { url, keys, clientsPerKey: CLIENTS_PER_KEY, files };
  const crowd = await startTold<RecordingCrowdTally>(
    new URL("../recordings/crowd-program.js", import.meta.url),
    job,
  );
  const begunMs = performance.now();
  let maxMb = 0;
  let endedAfterS: number | null = null;
  while (endedAfterS === null && performance.now() - begunMs < durationMs) {
    await sleep(LOOK_MS);
    const nowMb = maxMbOf(pid);
    if (nowMb === null) endedAfterS = (performance.now() - begunMs) / 1_000;
    else maxMb = nowMb;
  }
  return { tally: await crowd.stop(), maxMb, endedAfterS };
}

/** Null of a process that has ended. */
function maxMbOf(pid: number): number | null {
  try {
    const maxMb = maxResidentMb(pid);
    return Number.isNaN(maxMb) ? null : maxMb;
  } catch {
    return null;
  }
}

function describeTally(tally: RecordingCrowdTally): string {
  return Object.entries(tally)
    .map(([name, ended]) => {
      const counts = Object.entries(ended).map(([outcome, count]) => `${count} × ${outcome}`);
      return `${name}: ${counts.join(", ") || "none ended"}`;
    })
    .join("; ");
}
