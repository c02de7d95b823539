import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { mean } from "../following/summary.ts";
import { installedKokoro } from "../installed-kokoro.ts";
import type { KokoroNearness, KokoroReference } from "../kokoro-following-process.ts";
import type { KokoroFigures } from "../kokoro-process.ts";
import type { KokoroStreams } from "../kokoro-streams-process.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

const MIB = 2 ** 20;

/**
 * A sentence of eleven words three times and one of forty, the best of each; one decoded in pieces and at
 * once. Then streams of six sentences in real time, at most 1 s ahead, until a frame is too late for 200 ms
 * of buffer; then the people of `following-rate`.
 */
export const kokoro: Row = {
  id: "kokoro",
  what: "Kokoro-82M in one thread: processor time to the first frame of eleven words, and for each second of speech; resident, loaded and after sentences of 40 words; speech in pieces against speech at once; streams held in real time by a thread a core; after hearing people, from the voices that are measured: pitch against theirs, mean and worst, and time for their words, mean and worst",
  goal: "first ≤ 0.6 s; ≤ 0.8 s a second; ≤ 700 MB; pieces ≥ 60 dB; a stream a thread; pitch ≤ 0.8 semitones, pace ≤ 10 % on average",
  isOnlyByName: true,
  async measure({ note, isQuick, followings }) {
    const folder = await installedKokoro(note, ["af_heart"]);
    const [figures] = await told<KokoroFigures>("kokoro-process.js", folder);
    const { loadedBytes, peakBytes, firstS, perSecond, snrDb, largest } = figures!;
    const tried = await told<KokoroStreams>("kokoro-streams-process.js", folder);
    const held = Math.max(
      0,
      ...tried.filter(({ lateFrames }) => lateFrames === 0).map(({ streams }) => streams),
    );
    const people: readonly KokoroReference[] = (await followings.references())
      .filter(({ transcript }) => transcript !== null)
      .slice(0, isQuick ? 4 : undefined);
    const near = await told<KokoroNearness>("kokoro-following-process.js", folder, JSON.stringify(people));
    for (const each of near) note(JSON.stringify(each));
    const pitch = near.map(({ pitchSemitones }) => Math.abs(pitchSemitones));
    const pace = near.map((each) => Math.abs(each.pace));
    return {
      measured:
        `first ${firstS.toFixed(2)} s; ${perSecond.toFixed(2)} s a second; ${(loadedBytes / MIB).toFixed(0)} MB, ` +
        `then ${(peakBytes / MIB).toFixed(0)} MB; pieces ${snrDb.toFixed(0)} dB, at most ${largest.toExponential(1)} apart; ` +
        `${held} streams; pitch ${mean(pitch).toFixed(2)}, ${Math.max(...pitch).toFixed(2)} semitones; ` +
        `pace ${(100 * mean(pace)).toFixed(0)}, ${(100 * Math.max(...pace)).toFixed(0)} % (${near.length} people)`,
      isMet:
        firstS <= 0.6 &&
        perSecond <= 0.8 &&
        peakBytes <= 700 * MIB &&
        snrDb >= 60 &&
        held >= availableParallelism() &&
        mean(pitch) <= 0.8 &&
        mean(pace) <= 0.1,
    };
  },
};

/** What a program of ours tells, line by line. */
async function told<T>(program: string, ...args: readonly string[]): Promise<readonly T[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(TOP, "dist", "bench", program),
    ...args,
  ]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}
