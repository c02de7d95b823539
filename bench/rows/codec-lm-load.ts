import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { LineProgram } from "../line-program.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import { writeRandomCsm, writeRandomQwen3Tts } from "../random-checkpoint.ts";
import { maxResidentMb, residentMb } from "../resident.ts";
import type { Row } from "../row.ts";
import { CACHE, TOP } from "../top.ts";

/** Speech of 4 s. */
const FRAMES = 50;

const CHECKPOINTS = join(CACHE, "codec-lm");

interface Checkpoint {
  readonly called: string;
  readonly folder: string;
  write(folder: string): Promise<void>;
  /** What it may have resident. */
  readonly goalMb: number;
}

const tinyCsm = join(TOP, "test/golden/csm/csm-tiny");

const ALL: readonly Checkpoint[] = [
  {
    ...{ called: "CSM-1B's shapes, fp32", folder: join(CHECKPOINTS, "csm-f32") },
    ...{ write: (folder) => writeRandomCsm(folder, tinyCsm), goalMb: 2_500 },
  },
  {
    ...{ called: "the same, bf16", folder: join(CHECKPOINTS, "csm-bf16") },
    ...{ write: (folder) => writeRandomCsm(folder, tinyCsm, { dtype: "BF16" }), goalMb: 2_500 },
  },
  {
    called: "Qwen3-TTS-0.6B's, bf16",
    folder: join(CHECKPOINTS, "qwen3-tts-0.6b"),
    ...{ write: (folder) => writeRandomQwen3Tts(folder, "0.6b"), goalMb: 2_000 },
  },
];

/**
 * In processes of their own: once for the page cache, then quantised, then from the cache; memory after
 * opening and after 50 frames. No two tensors are equal, because onnxruntime would keep them once.
 */
export const codecLmLoad: Row = {
  id: "codec-lm-load",
  what: "a codec language model in 4 bits (dice for weights, files in the page cache), each in a process of its own: time to quantise and open it; to open it again; memory resident then, after 4 s of speech, and the most",
  goal: "≤ 15 s; ≤ 4 s; –, CSM ≤ 2,500 MB and Qwen3-TTS ≤ 2,000 MB, –",
  async measure({ isQuick, note }) {
    if (process.platform !== "linux") throw new NotMeasuredError("the system does not tell the most memory");
    const told: string[] = [];
    let isMet = true;
    for (const checkpoint of ALL) {
      note(`${checkpoint.called}: written if it is not there yet`);
      await checkpoint.write(checkpoint.folder);
      const found = await measured(checkpoint, isQuick);
      const mb = [found.openMb, found.spokenMb, found.mostMb].map((each) => each.toFixed(0)).join(", ");
      told.push(`${checkpoint.called}: ${found.firstS.toFixed(1)} s; ${found.againS.toFixed(1)} s; ${mb} MB`);
      isMet &&= found.firstS <= 15 && found.againS <= 4 && found.spokenMb <= checkpoint.goalMb;
    }
    return { measured: told.join(". "), isMet };
  },
};

async function measured(checkpoint: Checkpoint, isQuick: boolean) {
  const cacheFolder = await mkdtemp(join(CHECKPOINTS, "load-"));
  try {
    // The first time its files may have to come from the disk.
    if (!isQuick) {
      await inProcess(checkpoint, cacheFolder, async () => {});
      await rm(cacheFolder, { recursive: true });
    }
    const first = await inProcess(checkpoint, cacheFolder, async (_, { pid }) => maxResidentMb(pid));
    const again = await inProcess(checkpoint, cacheFolder, async (program, { pid }) => {
      const openMb = await residentMb(pid);
      await program.ask(isQuick ? 5 : FRAMES);
      return { openMb, spokenMb: await residentMb(pid), mostMb: maxResidentMb(pid) };
    });
    return {
      firstS: first.openS,
      againS: again.openS,
      ...again.seen,
      mostMb: Math.max(first.seen, again.seen.mostMb),
    };
  } finally {
    await rm(cacheFolder, { recursive: true, force: true });
  }
}

/** Opens a checkpoint in a process of its own, and looks at that. */
async function inProcess<T>(
  { folder }: Checkpoint,
  cacheFolder: string,
  look: (program: LineProgram, process: { readonly pid: number }) => Promise<T>,
): Promise<{ readonly openS: number; readonly seen: T }> {
  const path = join(TOP, "dist", "bench", "codec-lm-process.js");
  const child = spawn(process.execPath, [path, folder, cacheFolder], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const program = new LineProgram(child);
  try {
    const { open_s } = (await program.next()) as { open_s: number };
    return { openS: open_s, seen: await look(program, { pid: child.pid! }) };
  } finally {
    await program.close();
  }
}
