import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { TOP } from "./top.ts";

const { FOLDER, isInstalled, writeFiles } = await import(
  pathToFileURL(join(TOP, "scripts/onnxruntime.mjs")).href
);

/** A file as it lies in a tar: 512 bytes of header, and its bytes up to a multiple of that. */
function entry(name: string, content: string, type = "0"): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, "latin1");
  header.write(`${Buffer.byteLength(content).toString(8).padStart(11, "0")}\0`, 124, "latin1");
  header.write(type, 156, "latin1");
  const bytes = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512);
  bytes.write(content);
  return Buffer.concat([header, bytes]);
}

test("onnxruntime is installed in the version of the manifest, with the version of its types", () => {
  assert.equal(isInstalled(), true);
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8"));
  assert.equal(dependencies["onnxruntime-common"], peerDependencies["onnxruntime-node"]);
});

test("npm removes what its lock file does not have, but not the unpacked onnxruntime", () => {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-npm-"));
  try {
    const installed = ["node_modules/onnxruntime-node", relative(TOP, FOLDER)].map((at) => join(folder, at));
    for (const [at, name] of [[folder, "checkout"], ...installed.map((at) => [at, "onnxruntime-node"])]) {
      mkdirSync(at!, { recursive: true });
      writeFileSync(join(at!, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
    }
    const npm = ["install", "--offline", "--no-audit", "--no-fund", "--package-lock-only"];
    for (const args of [npm, npm.slice(0, -1)]) execFileSync("npm", args, { cwd: folder });
    assert.deepEqual(
      installed.map((at) => existsSync(at)),
      [false, true],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("of a tar those files are written that are wanted, wherever it is cut, and none outside the folder", async () => {
  const tar = Buffer.concat([
    entry("package/", "", "5"),
    entry("package/one", "1".repeat(700)),
    entry("package/unwanted", "x".repeat(512)),
    entry("package/in/empty", ""),
    entry("package/in/two", "2"),
    entry("package/../../out", "3"),
    Buffer.alloc(1_024),
  ]);
  for (const size of [1, 100, 512, 5_000]) {
    const folder = mkdtempSync(join(tmpdir(), "antiphon-tar-"));
    try {
      const parts = Array.from({ length: Math.ceil(tar.length / size) }, (_, n) =>
        tar.subarray(n * size, (n + 1) * size),
      );
      const wanted = (name: string) => name !== "unwanted";
      await writeFiles(Readable.from(parts), join(folder, "to"), wanted);
      const written = readdirSync(folder, { recursive: true }).map(String).sort();
      assert.deepEqual(written, ["to", "to/in", "to/in/empty", "to/in/two", "to/one"]);
      assert.equal(readFileSync(join(folder, "to/one"), "utf8"), "1".repeat(700));
      assert.equal(readFileSync(join(folder, "to/in/two"), "utf8"), "2");
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
});
