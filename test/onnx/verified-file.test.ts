import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readVerifiedFile } from "../../src/onnx/verified-file.ts";

describe("readVerifiedFile", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "antiphon-checked-"));
    const digest = createHash("sha256").update("weights").digest("hex");
    const names = ["right", "other", "missing", "large", "folder"];
    await writeFile(join(folder, "SHA256SUMS"), names.map((name) => `${digest}  ${name}\n`).join(""));
    for (const name of ["right", "unlisted"]) await writeFile(join(folder, name), "weights");
    await writeFile(join(folder, "other"), "weighty");
    await writeFile(join(folder, "large"), "");
    await truncate(join(folder, "large"), 2 ** 40);
    await mkdir(join(folder, "folder"));
  });
  after(() => rm(folder, { recursive: true }));

  test("reads a file with the listed digest", async () => {
    assert.equal(String(await readVerifiedFile(join(folder, "right"))), "weights");
  });

  for (const [name, why] of [
    ["other", /other is damaged/],
    ["missing", /missing is missing/],
    ["unlisted", /unlisted is not listed/],
    ["large", /large cannot be read/],
    ["folder", /folder cannot be read/],
  ] as const) {
    test(`rejects a file that is ${name === "other" ? "different" : name}`, async () => {
      await assert.rejects(readVerifiedFile(join(folder, name)), why);
    });
  }
});
