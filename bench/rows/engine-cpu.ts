import { spawn } from "node:child_process";
import { join } from "node:path";
import { LineProgram } from "../line-program.ts";
import { median } from "../load/percentile.ts";
import { MIXED_LENGTHS } from "../mixed-lengths.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

/**
 * User and system time for twenty sentences of 1 to 31 words (185 in all), text to samples, in pairs with
 * the Python package; both compute in 8 bits.
 */
export const engineCpu: Row = {
  id: "engine-cpu",
  what: "engine CPU time ÷ that of the Python package `hibari-tts` 0.2.1, one thread each",
  goal: "≤ 1.05",
  async measure({ isQuick, python }) {
    const theirs = await python.start("engine_cpu.py");
    const ours = new LineProgram(
      spawn(process.execPath, [join(TOP, "dist", "bench", "engine-process.js")], {
        stdio: ["pipe", "pipe", "pipe"],
      }),
    );
    try {
      await ours.next();
      for (const program of [ours, theirs, ours, theirs]) await program.ask(MIXED_LENGTHS);
      const pairs: { ours: CpuTime; theirs: CpuTime }[] = [];
      for (let pair = 0; pair < (isQuick ? 3 : 15); pair++) {
        // Whoever goes first finds the caches as the other left them: they take turns at it.
        if (pair % 2 === 0) pairs.push({ ours: await cpuOf(ours), theirs: await cpuOf(theirs) });
        else {
          const second = await cpuOf(theirs);
          pairs.push({ ours: await cpuOf(ours), theirs: second });
        }
      }
      const ratio = median(pairs.map((pair) => pair.ours.cpu_s / pair.theirs.cpu_s));
      const shown = (who: "ours" | "theirs") => {
        const cpuS = median(pairs.map((pair) => pair[who].cpu_s));
        return `${cpuS.toFixed(2)} s for ${pairs[0]![who].audio_s.toFixed(0)} s of speech`;
      };
      return {
        measured: `${ratio.toFixed(2)} (median of ${pairs.length} pairs; ${shown("ours")} against ${shown("theirs")})`,
        isMet: ratio <= 1.05,
      };
    } finally {
      await Promise.all([ours.close(), theirs.close()]);
    }
  },
};

interface CpuTime {
  readonly cpu_s: number;
  readonly audio_s: number;
}

async function cpuOf(program: LineProgram): Promise<CpuTime> {
  return (await program.ask(MIXED_LENGTHS)) as CpuTime;
}
