import assert from "node:assert/strict";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { CheckpointManifest } from "../../src/catalogue/checkpoint-manifest.ts";
import { findCheckpoint } from "../../src/catalogue/checkpoints.ts";
import { fixManifest } from "../../src/catalogue/folder-records.ts";
import { checkpointDir, checkpointFile } from "../../src/catalogue/installed-checkpoint.ts";
import { keepSpeed, knownSpeed, type WriterSpeed } from "../../src/catalogue/writer-speed.ts";
import { chooseCheckpoint } from "../../src/server/choose-checkpoint.ts";
import { manifestOf } from "../catalogue/pull/fixture.ts";
import { temporaryFolder } from "../e2e/folders.ts";

/** A data directory with checkpoints of so many megabytes, in files that take no room. */
async function installed(sizesMb: Readonly<Record<string, number>>): Promise<string> {
  const dataDir = temporaryFolder();
  for (const [name, sizeMb] of Object.entries(sizesMb)) {
    const ours = findCheckpoint(name);
    const manifest = ours ?? sized(name, sizeMb);
    mkdirSync(checkpointDir(manifest, dataDir), { recursive: true });
    if (ours === undefined) await fixManifest(manifest, dataDir);
    writeFileSync(checkpointFile(manifest, dataDir), "");
    truncateSync(checkpointFile(manifest, dataDir), manifest.files[0]!.sizeBytes);
  }
  return dataDir;
}

function sized(name: string, sizeMb: number): CheckpointManifest {
  const manifest = manifestOf("https://example.org/tiny.gguf");
  return { ...manifest, name, files: [{ ...manifest.files[0]!, sizeBytes: sizeMb * 1e6 }] };
}

function speedFor(seconds: number): WriterSpeed {
  return {
    sha256: "",
    cpu: "",
    cores: 1,
    threads: 0,
    read_tokens_per_s: 400 / seconds,
    write_tokens_per_s: 30 / seconds,
    measured_at: "",
  };
}

/** Which is chosen; of those whose name says no rank nobody has judged the replies. */
async function chosen(
  sizesMb: Readonly<Record<string, number>>,
  secondsOf: Readonly<Record<string, number | Error>>,
): Promise<{ name: string; notes: string[]; measured: string[] }> {
  const notes: string[] = [];
  const measured: string[] = [];
  const name = await chooseCheckpoint({
    dataDir: await installed(sizesMb),
    rankOf: ({ name }) => ({ worse: -1, good: 1, better: 2, best: 3 })[name] ?? null,
    speedOf: async (manifest) => {
      measured.push(manifest.name);
      const seconds = secondsOf[manifest.name]!;
      if (seconds instanceof Error) throw seconds;
      return speedFor(seconds);
    },
    note: (sentence) => notes.push(sentence),
    signal: new AbortController().signal,
  });
  return { name, notes, measured };
}

const SMALL = "smollm2-135m";

describe("the checkpoint that auto chooses", () => {
  it("is the one that was judged best of those whose first sentence takes less than 1.5 s", async () => {
    const sizes = { [SMALL]: 98, good: 4_000, better: 400, best: 1_200 };
    const { name, notes, measured } = await chosen(sizes, { good: 0.1, better: 1.4, best: 1.6 });
    assert.deepEqual([name, measured], ["better", ["best", "better"]]);
    assert.deepEqual(notes, [
      "best is skipped: its first sentence would take 1.6 s here.",
      "Replies are written by better, whose first sentence takes 1.4 s here.",
    ]);
  });

  it("is not one that cannot write here, and the reason is told", async () => {
    const reason = new Error("there is too little memory", { cause: new Error("9 GB, and 2 GB are free") });
    const { name, notes } = await chosen({ good: 400, best: 2_500 }, { good: 0.5, best: reason });
    assert.equal(name, "good");
    assert.equal(notes[0], "best is skipped, because there is too little memory (9 GB, and 2 GB are free).");
  });

  it("is none that was judged no better or that nobody has judged, however fast and large it is", async () => {
    const { name, notes, measured } = await chosen({ [SMALL]: 98, worse: 490, unknown: 4_000 }, {});
    assert.deepEqual([name, measured], [SMALL, []]);
    assert.match(
      notes[0]!,
      /^unknown is skipped: nobody has judged .* set writer\.checkpoint to its name\.$/,
    );
    assert.match(
      notes[1]!,
      /^worse is skipped: its replies were judged to be no better than those of smollm2-135m\.$/,
    );
  });

  it("is the one that comes with Antiphon where all others are too slow, or there are none", async () => {
    const slow = await chosen({ [SMALL]: 98, best: 2_500 }, { best: 9 });
    assert.deepEqual([slow.name, slow.measured], [SMALL, ["best"]]);
    assert.deepEqual((await chosen({}, {})).name, SMALL);
  });
});

describe("what was measured", () => {
  it("is known until the file, the threads or the machine are others", async () => {
    const dataDir = await installed({ half: 400 });
    const manifest = sized("half", 400);
    assert.equal(await knownSpeed(manifest, dataDir, 0), null);
    const kept = await keepSpeed(manifest, dataDir, 0, { readTokensPerS: 50, writeTokensPerS: 10 });
    assert.deepEqual(await knownSpeed(manifest, dataDir, 0), kept);
    assert.equal(await knownSpeed(manifest, dataDir, 2), null);
    const other = { ...manifest, files: [{ ...manifest.files[0]!, sha256: "0".repeat(64) }] };
    assert.equal(await knownSpeed(other, dataDir, 0), null);
    const path = join(checkpointDir(manifest, dataDir), "speed.json");
    writeFileSync(path, JSON.stringify({ ...kept, cpu: "Another CPU" }));
    assert.equal(await knownSpeed(manifest, dataDir, 0), null);
    writeFileSync(path, "{");
    assert.equal(await knownSpeed(manifest, dataDir, 0), null);
  });
});
