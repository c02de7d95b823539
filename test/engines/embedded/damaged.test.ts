import assert from "node:assert/strict";
import { cp, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, describe, test } from "node:test";
import { createParametricModel } from "../../../src/engines/embedded/model.ts";
import { openNetwork } from "../../../src/engines/embedded/network.ts";
import { tables, VOICE_DIR } from "./voice.ts";

describe("A voice with a damaged file", () => {
  const folders: string[] = [];
  let voiceDir: string;
  beforeEach(async () => {
    voiceDir = await mkdtemp(join(tmpdir(), "antiphon-voice-"));
    folders.push(voiceDir);
    await cp(VOICE_DIR, voiceDir, { recursive: true });
  });
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  test("is refused by the graph's name when it was cut short", async () => {
    const file = join(voiceDir, "split", "decoder.onnx");
    await truncate(file, 4_000_000);
    await assert.rejects(openNetwork(voiceDir), new RegExp(`^Error: ${file} is damaged`));
  });

  test("is refused by the graph's name when a byte is another", async () => {
    const file = join(voiceDir, "split", "prosody.onnx");
    await writeFile(file, "x", { flag: "r+" });
    await assert.rejects(openNetwork(voiceDir), new RegExp(`^Error: ${file} is damaged`));
  });

  test("is refused by the graph's name when it is gone, and so is the net for unknown words", async () => {
    const options = { voiceDir, tables: await tables() };
    await rm(join(voiceDir, "oov.onnx"));
    await assert.rejects(createParametricModel(options), /^Error: .*oov\.onnx is missing/);
    await rm(join(voiceDir, "split", "text.onnx"));
    await assert.rejects(createParametricModel(options), /^Error: .*text\.onnx is missing/);
  });
});
