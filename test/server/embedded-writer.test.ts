import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { checkpointDir, checkpointFile } from "../../src/catalogue/installed-checkpoint.ts";
import { mergedName, originOf } from "../../src/catalogue/merged-file.ts";
import { sha256OfFile } from "../../src/files/sha256-of-file.ts";
import { WriterError } from "../../src/model/writer.ts";
import { EMBEDDED_ADAPTER, openEmbeddedWriter } from "../../src/server/embedded-writer.ts";
import { MERGE_VERSION } from "../../src/writers/gguf/merge-adapter.ts";
import type { GgufWriterOptions } from "../../src/writers/llama/gguf-writer.ts";
import { manifestOf, sha256, WEIGHTS } from "../catalogue/pull/fixture.ts";
import { temporaryFolder } from "../e2e/folders.ts";
import { ScriptedWriter } from "../writers/scripted-writer.ts";

const MERGED = Buffer.from("taken for the merged weights");

/** A model that no adapter fits, and beside it what its name says was merged. */
async function installed({ isMerged }: { isMerged: boolean }) {
  const manifest = manifestOf("https://127.0.0.1:1/");
  const dataDir = temporaryFolder();
  const base = checkpointFile(manifest, dataDir);
  mkdirSync(checkpointDir(manifest, dataDir), { recursive: true });
  writeFileSync(base, WEIGHTS);
  const origin = originOf([`${MERGE_VERSION}`, sha256(WEIGHTS), await sha256OfFile(EMBEDDED_ADAPTER)]);
  const merged = join(checkpointDir(manifest, dataDir), mergedName(origin, sha256(MERGED)));
  if (isMerged) writeFileSync(merged, MERGED);
  return { manifest, dataDir, signal: new AbortController().signal, base, merged };
}

/** Opens it by `load`. Gives what was loaded, what was said, and how it ended. */
async function opened(from: Awaited<ReturnType<typeof installed>>, load: (path: string) => void = () => {}) {
  const writer = new ScriptedWriter([]);
  const loaded: [modelPath: string, hasAdapter: boolean][] = [];
  const said: string[] = [];
  const open = async ({ modelPath, adapterPath }: GgufWriterOptions) => {
    loaded.push([modelPath, adapterPath !== null]);
    load(modelPath);
    return writer;
  };
  const end = await openEmbeddedWriter(from, (sentences) => said.push(sentences), open).catch(
    (error: Error) => error,
  );
  return { loaded, said, end: end === writer ? "opened" : end };
}

const MEANWHILE =
  "Meanwhile the adapter is applied while replies are written, which takes longer: " +
  "run antiphon models pull writer, then start the server again.";

describe("the embedded writer", () => {
  it("is opened from the merged file, without a word where that is there", async () => {
    const from = await installed({ isMerged: true });
    assert.deepEqual(await opened(from), { loaded: [[from.merged, false]], said: [], end: "opened" });
  });

  it("is opened with the adapter beside it where none can be merged, and says what mends it", async () => {
    const from = await installed({ isMerged: false });
    const { loaded, said, end } = await opened(from);
    assert.deepEqual([loaded, end], [[[from.base, true]], "opened"]);
    assert.equal(said.length, 1);
    assert.ok(
      said[0]?.startsWith("The writer's adapter could not be merged into its weights. It failed: "),
      said[0],
    );
    assert.ok(said[0]?.endsWith(` ${MEANWHILE}`), said[0]);
  });

  it("is opened with the adapter beside it where the merged file is removed before it is loaded", async () => {
    const from = await installed({ isMerged: true });
    const { loaded, said, end } = await opened(from, (path) => {
      if (path !== from.merged) return;
      rmSync(path);
      throw new WriterError("the writer's file cannot be loaded");
    });
    const both = [
      [from.merged, false],
      [from.base, true],
    ];
    assert.deepEqual([loaded, end], [both, "opened"]);
    assert.deepEqual(said, [`${from.merged} was removed before it could be loaded. ${MEANWHILE}`]);
  });

  it("is not opened where what is there cannot be loaded", async () => {
    const from = await installed({ isMerged: true });
    const refusal = new WriterError("there is too little memory");
    const { loaded, said, end } = await opened(from, () => {
      throw refusal;
    });
    assert.deepEqual([loaded, said, end], [[[from.merged, false]], [], refusal]);
    assert.ok(existsSync(from.merged));
  });
});
