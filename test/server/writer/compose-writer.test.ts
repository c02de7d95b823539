import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { composeWriter } from "../../../src/server/writer/compose-writer.ts";
import { loadSettings } from "../../../src/settings/load.ts";

/** Opens a writer without weights, and prints the llama.cpp libraries that the process loaded. */
const PROGRAM = `
  import { composeWriter } from "${new URL("../../../src/server/writer/compose-writer.js", import.meta.url)}";
  import { loadSettings } from "${new URL("../../../src/settings/load.js", import.meta.url)}";
  const flags = { dataDir: "nowhere", "writer.checkpoint": "qwen3-4b", "writer.gate": true };
  const settings = await loadSettings({ env: {}, flags });
  const weights = async () => ({ path: "", manifest: null, problem: "none" });
  const reason = await composeWriter(settings, { weights, env: {} }).prepare().then(() => "none", ({ message }) => message);
  const libraries = process.report.getReport().sharedObjects.filter((path) => /llama|ggml/.test(path));
  console.log(JSON.stringify({ reason, libraries }));
`;

test("a writer without weights loads no gate", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM]);
  const { reason, libraries } = JSON.parse(stdout) as { reason: string; libraries: readonly string[] };
  assert.match(reason, /weights are missing or damaged: run antiphon models pull qwen3-4b/);
  assert.deepEqual(libraries, []);
});

const notesOf = (flags: Record<string, string | boolean>) => {
  const notes: string[] = [];
  const settings = loadSettings({ env: {}, flags: { dataDir: "nowhere", ...flags } });
  const weights = async () => ({ path: "", manifest: null, problem: "none" });
  composeWriter(settings, { weights, env: {}, note: (sentence) => notes.push(sentence) });
  return notes;
};
const CHAT = { "writer.kind": "chat", "writer.model": "x", "writer.baseUrl": "http://127.0.0.1:1/v1" };
const GGUF = { "writer.kind": "gguf", "writer.path": "/x.gguf" };

for (const flags of [CHAT, GGUF, { "writer.checkpoint": "qwen3-4b" }, { "writer.gate": false }])
  test(`a message says how to switch the gate on, with ${JSON.stringify(flags)}`, () => {
    const notes = notesOf(flags);
    assert.equal(notes.length, 1);
    assert.match(notes[0]!, /^The safety gate is off: .* set writer\.gate to true/);
  });

test("no message for an active gate, or one that the operator left out", () => {
  for (const flags of [
    {},
    { ...CHAT, "writer.gate": true },
    { ...CHAT, "writer.gate": false },
    { "writer.kind": "none" },
  ])
    assert.deepEqual(notesOf(flags), [], JSON.stringify(flags));
});
