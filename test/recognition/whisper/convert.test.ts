import assert from "node:assert/strict";
import { appendFile, copyFile, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { convertWhisper } from "../../../src/recognition/whisper/convert.ts";
import { findWhisper } from "../../../src/recognition/whisper/description.ts";
import { temporaryFolder } from "../folders.ts";
import { writeTinyCt2, writeTinyHub } from "./tiny-whisper.ts";

describe("converting a Whisper model", () => {
  const folder = temporaryFolder();
  const [hub, ct2, made] = ["hub", "ct2", "made"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  before(async () => {
    await Promise.all([writeTinyHub(hub), writeTinyCt2(ct2)]);
    await convertWhisper(hub, made);
  });

  test("gives the same graphs from a hub's files and from CTranslate2's", async () => {
    const other = join(folder, "other");
    const [first, second] = [await findWhisper(made), await convertWhisper(ct2, other)];
    assert.deepEqual(second, first.description);
  });

  test("takes a model.bin that comes in parts", async () => {
    const parts = join(folder, "parts");
    await writeTinyCt2(parts);
    const whole = await readFile(join(parts, "model.bin"));
    await writeFile(join(parts, "model.bin.part1"), whole.subarray(0, 1_000_001));
    await writeFile(join(parts, "model.bin.part2"), whole.subarray(1_000_001));
    await rm(join(parts, "model.bin"));
    const { sha256 } = await convertWhisper(parts, join(folder, "of-parts"));
    assert.deepEqual(sha256, (await findWhisper(made)).description.sha256);
  });

  test("leaves the graphs, the silence and their description, and nothing else", async () => {
    assert.deepEqual((await readdir(made)).sort(), [
      "decoder.onnx",
      "encoder.onnx",
      "recogniser.json",
      "silence.f32",
    ]);
  });

  test("takes all heads of the later layers where nobody says which follow the speech", async () => {
    assert.equal((await findWhisper(made)).description.alignmentHeads, 1);
  });

  test("a folder without weights, or whose weights lack something, is refused", async () => {
    await assert.rejects(convertWhisper(join(folder, "none"), made), /holds neither/);
    const lacking = join(folder, "lacking");
    await writeTinyCt2(lacking);
    await rm(join(lacking, "vocabulary.txt"));
    await assert.rejects(convertWhisper(lacking, join(folder, "x")), /vocabulary\.txt is missing/);
    await writeFile(join(lacking, "vocabulary.txt"), "a\nb\n");
    await assert.rejects(convertWhisper(lacking, join(folder, "x")), /has 2 tokens/);
  });

  const damages: Readonly<Record<string, (at: string) => Promise<void>>> = {
    "a graph is missing": (at) => rm(join(at, "encoder.onnx")),
    "a graph is cut": (at) => truncate(join(at, "decoder.onnx"), 10_000),
    "a graph has more": (at) => appendFile(join(at, "decoder.onnx"), "x"),
    "the graphs are exchanged": async (at) => {
      await rename(join(at, "encoder.onnx"), join(at, "x"));
      await rename(join(at, "decoder.onnx"), join(at, "encoder.onnx"));
      await rename(join(at, "x"), join(at, "decoder.onnx"));
    },
    "the silence is missing": (at) => rm(join(at, "silence.f32")),
    "the silence is cut": (at) => truncate(join(at, "silence.f32"), 1_000),
    "the description is missing": (at) => rm(join(at, "recogniser.json")),
    "the description is cut": (at) => truncate(join(at, "recogniser.json"), 5_000),
    "the description is of another version": (at) => writeFile(join(at, "recogniser.json"), '{"format":99}'),
    "the description is something else": (at) => writeFile(join(at, "recogniser.json"), "null"),
    "the description lacks something": async (at) => {
      const path = join(at, "recogniser.json");
      await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), tokens: [] }));
    },
  };
  const told: Readonly<Record<string, RegExp>> = {
    "the description is of another version": /is of another version: install/,
    "the description lacks something": /lacks something: install/,
  };
  for (const [what, damage] of Object.entries(damages)) {
    test(`what was converted is refused when ${what}`, async () => {
      const at = temporaryFolder();
      for (const name of await readdir(made)) await copyFile(join(made, name), join(at, name));
      await findWhisper(at);
      await damage(at);
      await assert.rejects(findWhisper(at), { name: "RecogniserFilesError", message: told[what] ?? /./ });
    });
  }
});
