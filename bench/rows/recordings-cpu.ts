import { AudioFormatError } from "../../src/audio/audio-format-error.ts";
import { resample } from "../../src/audio/resample.ts";
import { BOMBS, type BombName } from "../../test/audio/recordings/bombs.ts";
import { talkOf } from "../hearing/long-talk.ts";
import { median } from "../load/percentile.ts";
import { decodingCost } from "../recordings/decode-process.ts";
import { decoded } from "../recordings/decoded.ts";
import { type SpeechFiles, speechFiles } from "../recordings/speech-files.ts";
import type { Bench, Row } from "../row.ts";

/**
 * Three minutes of our two voices, medians of nine passes; MP3 at 128 kb/s, Opus at 64 kb/s. Then the bombs
 * of `recordings-beside`, each in its own process, abandoned after 150 s.
 */
export const recordingsCpu: Row = {
  id: "recordings-cpu",
  what:
    "CPU time of decoding a second of a recording, as a multiple of resampling it from 44.1 to 16 kHz, by kind; until " +
    "files are decoded or refused that ask for much",
  goal: "each kind ≤ 4; each file ≤ twice the costliest 25 minutes of speech",
  async measure(bench) {
    const { isQuick, renderings } = bench;
    const lengthS = isQuick ? 20 : 180;
    const [[first], [second]] = await Promise.all([
      talkOf(renderings, "0", lengthS, 1),
      talkOf(renderings, "1", lengthS, 1),
    ]);
    const sound = resample(first!.samples, first!.sampleRateHz, HIGH_HZ);
    const files = await speechFiles([first!, second!]);
    const { unitMs, kinds } = await ratiosOf(files, sound, isQuick ? 3 : 9);
    const worst = Math.max(...[...kinds.values()].map((ratio) => ratio ?? 0));
    const maxS = (2 * MAX_S * worst * unitMs) / 1_000;
    const bombs = await bombsOf(bench);
    const shown = [...kinds].map(
      ([name, ratio]) => `${name} ${ratio === null ? "not read" : ratio.toFixed(2)}`,
    );
    return {
      measured:
        `${shown.join(", ")} (× ${unitMs.toFixed(2)} ms); ${bombs.map(({ shown }) => shown).join(", ")} ` +
        `(twice 25 minutes: ${maxS.toFixed(1)} s)`,
      isMet: worst <= 4 && bombs.every(({ cpuS }) => cpuS <= maxS),
    };
  },
};

const HIGH_HZ = 44_100;
const KEPT_HZ = 16_000;
const MAX_S = 1_500;

/** What a second of each takes ÷ what resampling one takes; null of what is not read. */
async function ratiosOf(files: SpeechFiles, sound: Float32Array, passes: number) {
  const lengthS = sound.length / HIGH_HZ;
  const unitsMs: number[] = [];
  const costs = new Map<string, number[]>(Object.keys(files).map((name) => [name, []]));
  // Turn and turn about, because a machine is not equally fast all the time. The first of each is not counted.
  for (let pass = -1; pass < passes; pass++) {
    const unitMs = await cpuMs(async () => resample(sound, HIGH_HZ, KEPT_HZ));
    if (pass >= 0 && unitMs !== null) unitsMs.push(unitMs / lengthS);
    for (const [name, bytes] of Object.entries(files)) {
      const costMs = await cpuMs(() => decoded(bytes));
      if (pass >= 0 && costMs !== null) costs.get(name)?.push(costMs / lengthS);
    }
  }
  const unitMs = median(unitsMs);
  const kinds = new Map(
    [...costs].map(([name, own]) => [name, own.length === 0 ? null : median(own) / unitMs]),
  );
  return { unitMs, kinds };
}

/** Null where the work refuses what it is given. */
async function cpuMs(work: () => Promise<unknown>): Promise<number | null> {
  const before = process.cpuUsage();
  try {
    await work();
  } catch (error) {
    if (error instanceof AudioFormatError) return null;
    throw error;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function bombsOf({ isQuick, note }: Bench) {
  const found: { readonly shown: string; readonly cpuS: number }[] = [];
  const maxS = isQuick ? 30 : 150;
  for (const name of Object.keys(BOMBS) as BombName[]) {
    const cost = await decodingCost(name, maxS);
    if (cost === "late") found.push({ shown: `${name} > ${maxS} s`, cpuS: Number.POSITIVE_INFINITY });
    else if (cost === "dead")
      found.push({ shown: `${name} ends the process`, cpuS: Number.POSITIVE_INFINITY });
    else {
      found.push({ shown: `${name} ${cost.cpuS.toFixed(1)} s`, cpuS: cost.cpuS });
      note(`${name}: ${cost.outcome}`);
    }
  }
  return found;
}
