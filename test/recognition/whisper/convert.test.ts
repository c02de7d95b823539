import assert from "node:assert/strict";
import { appendFile, copyFile, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { convertWhisper } from "../../../src/recognition/whisper/convert.ts";
import { findWhisper } from "../../../src/recognition/whisper/description.ts";
import { temporaryFolder } from "../folders.ts";
import { writeTinyCt2, writeTinyHub } from "./tiny-whisper.ts";

describe("convertWhisper", () => {
  const folder = temporaryFolder();
  const [hub = "", ct2 = "", made = ""] = ["hub", "ct2", "made"].map((name) => join(folder, name));
  before(async () => {
    await Promise.all([writeTinyHub(hub), writeTinyCt2(ct2)]);
    await convertWhisper(hub, made);
  });

  test("makes the same graphs from Hugging Face's and CTranslate2's files", async () => {
    const other = join(folder, "other");
    const [first, second] = [await findWhisper(made), await convertWhisper(ct2, other)];
    assert.deepEqual(second, first.description);
  });

  test("reads a model.bin in parts", async () => {
    const parts = join(folder, "parts");
    await writeTinyCt2(parts);
    const whole = await readFile(join(parts, "model.bin"));
    await writeFile(join(parts, "model.bin.part1"), whole.subarray(0, 1_000_001));
    await writeFile(join(parts, "model.bin.part2"), whole.subarray(1_000_001));
    await rm(join(parts, "model.bin"));
    const { sha256 } = await convertWhisper(parts, join(folder, "of-parts"));
    assert.deepEqual(sha256, (await findWhisper(made)).description.sha256);
  });

  test("writes graphs, silence and description, and nothing else", async () => {
    const files = ["decoder.onnx", "encoder.onnx", "recogniser.json", "silence.f32"];
    assert.deepEqual((await readdir(made)).sort(), files);
  });

  test("aligns by all heads of the later layers by default", async () => {
    assert.equal((await findWhisper(made)).description.alignmentHeads, 1);
  });

  test("rejects a folder without weights or vocabulary", async () => {
    await assert.rejects(convertWhisper(join(folder, "none"), made), /holds neither/);
    const lacking = join(folder, "lacking");
    await writeTinyCt2(lacking);
    await rm(join(lacking, "vocabulary.txt"));
    await assert.rejects(convertWhisper(lacking, join(folder, "x")), /vocabulary\.txt is missing/);
    await writeFile(join(lacking, "vocabulary.txt"), "a\nb\n");
    await assert.rejects(convertWhisper(lacking, join(folder, "x")), /has 2 tokens/);
  });

  const damages: Readonly<Record<string, (at: string) => Promise<void>>> = {
    "a missing graph": (at) => rm(join(at, "encoder.onnx")),
    "a truncated graph": (at) => truncate(join(at, "decoder.onnx"), 10_000),
    "a graph with a trailing byte": (at) => appendFile(join(at, "decoder.onnx"), "x"),
    "exchanged graphs": async (at) => {
      await rename(join(at, "encoder.onnx"), join(at, "x"));
      await rename(join(at, "decoder.onnx"), join(at, "encoder.onnx"));
      await rename(join(at, "x"), join(at, "decoder.onnx"));
    },
    "missing silence": (at) => rm(join(at, "silence.f32")),
    "truncated silence": (at) => truncate(join(at, "silence.f32"), 1_000),
    "a missing description": (at) => rm(join(at, "recogniser.json")),
    "a truncated description": (at) => truncate(join(at, "recogniser.json"), 5_000),
    "a description of another version": (at) => writeFile(join(at, "recogniser.json"), '{"format":99}'),
    "a description that is null": (at) => writeFile(join(at, "recogniser.json"), "null"),
    "an incomplete description": async (at) => {
      const path = join(at, "recogniser.json");
      await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), tokens: [] }));
    },
  };
  const messages: Readonly<Record<string, RegExp>> = {
    "a description of another version": /is of another version: install/,
    "an incomplete description": /lacks something: install/,
  };
  for (const [what, damage] of Object.entries(damages)) {
    test(`findWhisper rejects ${what}`, async () => {
      const at = temporaryFolder();
      for (const name of await readdir(made)) await copyFile(join(made, name), join(at, name));
      await findWhisper(at);
      await damage(at);
      await assert.rejects(findWhisper(at), { name: "RecogniserFilesError", message: messages[what] ?? /./ });
    });
  }
});
