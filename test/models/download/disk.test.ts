import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { removeCheckpoint } from "../../../src/models/download/pull.ts";
import {
  checkpointDir,
  checkpointFile,
  inspectCheckpoint,
  verifyCheckpoint,
} from "../../../src/models/installed-checkpoint.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { withFullDisk } from "../../full-disk.ts";
import { cut, file, fileServer, status } from "./file-server.ts";
import { leftOf, manifestOf, placed, pull, sha256, WEIGHTS } from "./fixture.ts";

/** The user without rights that tests as root switch to. */
const NOBODY = 65_534;

function install(bytes: Uint8Array = WEIGHTS) {
  const manifest = manifestOf("https://127.0.0.1:1/");
  const dataDir = temporaryFolder();
  mkdirSync(checkpointDir(manifest, dataDir), { recursive: true });
  writeFileSync(checkpointFile(manifest, dataDir), bytes);
  return { manifest, dataDir };
}

/** Runs work as a user who may only read the folder. */
async function asReader<T>(folder: string, work: () => Promise<T>): Promise<T> {
  chmodSync(folder, 0o555);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o755);
  }
}

describe("an installed checkpoint", () => {
  it("is not fetched again, even on a read-only disk", async () => {
    const { manifest, dataDir } = install();
    const { end, events } = await asReader(dataDir, () => pull(manifest, dataDir));
    assert.deepEqual([end, events], ["already-installed", []]);
    assert.equal((await inspectCheckpoint(manifest, dataDir)).state, "installed");
  });

  it("reports a missing file with the remedy", async () => {
    const { state, problem, sizeBytes } = await inspectCheckpoint(manifestOf("https://x/"), "/nowhere");
    assert.deepEqual([state, sizeBytes], ["missing", 0]);
    assert.equal(
      problem,
      "The weights of tiny are missing (there is no tiny.gguf in /nowhere/checkpoints/tiny): run antiphon models pull tiny.",
    );
  });

  it("reports a truncated file from its size", async () => {
    const { manifest, dataDir } = install(WEIGHTS.subarray(0, 12));
    const { state, problem, sizeBytes } = await inspectCheckpoint(manifest, dataDir);
    assert.deepEqual([state, sizeBytes], ["damaged", 12]);
    assert.match(
      problem ?? "",
      /are damaged \(.*\/checkpoints\/tiny\/tiny\.gguf has 12 bytes instead of 95001\): run antiphon/,
    );
  });

  it("reports a flipped bit when its bytes are verified", async () => {
    const wrong = Buffer.from(WEIGHTS);
    wrong[50_000]! ^= 1;
    const { manifest, dataDir } = install(wrong);
    assert.equal((await inspectCheckpoint(manifest, dataDir)).state, "installed");
    const { state, problem } = await verifyCheckpoint(manifest, dataDir);
    assert.equal(state, "damaged");
    assert.ok(
      problem?.includes(`has the SHA-256 ${sha256(wrong)} instead of ${sha256(WEIGHTS)}`),
      problem ?? "",
    );
  });

  it("is damaged if its file is unreadable", async () => {
    const { manifest, dataDir } = install();
    const path = checkpointFile(manifest, dataDir);
    chmodSync(path, 0);
    const { problem } = await asReader(dataDir, () => verifyCheckpoint(manifest, dataDir));
    assert.match(problem ?? "", /tiny\.gguf cannot be read \(EACCES\)/);
  });

  it("is replaced if damaged, and kept until the replacement is complete", async () => {
    const { dataDir } = install(WEIGHTS.subarray(0, 12));
    const { manifest } = await fileServer(status(404), cut(10), file());
    const failed = await pull(manifest, dataDir);
    assert.match(failed.end, /status 404/);
    assert.deepEqual(failed.left, ["tiny.gguf"]);
    const { end, left, events } = await pull(manifest, dataDir);
    assert.deepEqual([end, left], ["installed", ["tiny.gguf"]]);
    assert.match(JSON.stringify(events[0]), /"damaged".*has 12 bytes instead of 95001/);
    assert.ok(placed(manifest, dataDir).equals(WEIGHTS));
  });

  it("is removed with its partial downloads, once", async () => {
    const { manifest, dataDir } = install();
    writeFileSync(`${checkpointFile(manifest, dataDir)}.part`, "x");
    assert.equal(await removeCheckpoint(manifest, dataDir), true);
    assert.equal(leftOf(manifest, dataDir), null);
    assert.equal(await removeCheckpoint(manifest, dataDir), false);
  });
});

describe("a disk", () => {
  it("without room is not written to, and nothing is requested", async () => {
    const { asked, manifest, dataDir } = await fileServer(file());
    const { end, left } = await pull(manifest, dataDir, { freeBytes: async () => 95_000 });
    assert.match(
      end,
      /^The disk that holds .* has 0\.1 MB free, and 0\.1 MB are needed: make room, or choose/,
    );
    assert.deepEqual([left, asked], [null, []]);
  });

  it("needs room only for the missing bytes", async () => {
    const { asked, manifest, dataDir } = await fileServer(cut(90_000), status(404), file());
    await pull(manifest, dataDir);
    const { end } = await pull(manifest, dataDir, { freeBytes: async () => 5_001 });
    assert.deepEqual([end, asked], ["installed", [null, 90_000, 90_000]]);
  });

  it("that fills up during the download is reported, and the partial file is deleted", {
    skip: !existsSync("/dev/full"),
  }, async () => {
    const { url, asked, dataDir } = await fileServer(file());
    const manifest = manifestOf([
      { kind: "https", url },
      { kind: "https", url },
    ]);
    mkdirSync(checkpointDir(manifest, dataDir), { recursive: true });
    const part = `${checkpointFile(manifest, dataDir)}.part`;
    const { end, left } = await withFullDisk(part, () => pull(manifest, dataDir));
    assert.match(
      end,
      /^The disk that holds .*tiny\.gguf\.part is full: make room, .*; the partial download is removed\.$/,
    );
    assert.deepEqual([left, asked], [null, [null]], "the other source is not tried");
  });

  it("without write permission is reported", async () => {
    const { asked, manifest, dataDir } = await fileServer(file());
    const { end } = await asReader(dataDir, () => pull(manifest, dataDir));
    assert.match(
      end,
      /checkpoints.* cannot be written \((EACCES|EPERM)\): give this user the right to, or choose/,
    );
    assert.deepEqual(asked, []);
  });

  it("with a file in place of the folder is reported", async () => {
    const dataDir = temporaryFolder();
    writeFileSync(`${dataDir}/checkpoints`, "");
    const { end } = await pull(manifestOf("https://127.0.0.1:1/"), dataDir);
    assert.match(end, /cannot be written \((ENOTDIR|EEXIST)\): mend the folder, or choose another one/);
  });

  it("with an oversized partial file restarts the download", async () => {
    const { asked, manifest, dataDir } = await fileServer(file());
    mkdirSync(checkpointDir(manifest, dataDir), { recursive: true });
    const path = `${checkpointFile(manifest, dataDir)}.part`;
    writeFileSync(path, "");
    truncateSync(path, WEIGHTS.length + 1);
    assert.deepEqual([(await pull(manifest, dataDir)).end, asked], ["installed", [null]]);
  });
});
