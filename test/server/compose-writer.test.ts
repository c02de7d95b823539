import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { composeWriter } from "../../src/server/compose-writer.ts";
import { loadSettings } from "../../src/settings/load.ts";

/** Opens a writer whose weights are missing, and prints which of llama.cpp's libraries the process then holds. */
const PROGRAM = `
  import { composeWriter } from "${new URL("../../src/server/compose-writer.js", import.meta.url)}";
  import { loadSettings } from "${new URL("../../src/settings/load.js", import.meta.url)}";
  const settings = await loadSettings({ env: {}, flags: { dataDir: "nowhere" } });
  const weights = async () => ({ path: "", manifest: null, problem: "none" });
  const reason = await composeWriter(settings, { weights, env: {} }).prepare().then(() => "none", ({ message }) => message);
  const libraries = process.report.getReport().sharedObjects.filter((path) => /llama|ggml/.test(path));
  console.log(JSON.stringify({ reason, libraries }));
`;

test("a writer without weights loads nothing to guard it", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM]);
  const { reason, libraries } = JSON.parse(stdout) as { reason: string; libraries: readonly string[] };
  assert.match(reason, /weights are missing or damaged/);
  assert.deepEqual(libraries, []);
});

test("a writer without the safety gate is warned of, and no other is", () => {
  const notesOf = (flags: Record<string, string | boolean>) => {
    const notes: string[] = [];
    const settings = loadSettings({ env: {}, flags: { dataDir: "nowhere", ...flags } });
    const weights = async () => ({ path: "", manifest: null, problem: "none" });
    composeWriter(settings, { weights, env: {}, note: (sentence) => notes.push(sentence) });
    return notes;
  };
  assert.match(
    notesOf({ "writer.gate": false }).join("\n"),
    /^The safety gate is off \(writer\.gate\): [^\n]+$/,
  );
  assert.deepEqual(notesOf({}), []);
  assert.deepEqual(notesOf({ "writer.kind": "none", "writer.gate": false }), []);
});
