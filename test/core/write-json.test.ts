import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { link } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { writeJson } from "../../src/core/write-json.ts";
import { temporaryFolder } from "../e2e/folders.ts";

describe("JSON that is written", () => {
  it("is readable by people, replaces what was there, and leaves no draft", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.json");
    await writeJson(path, { a: 0 });
    await writeJson(path, { a: 1 });
    assert.equal(readFileSync(path, "utf8"), '{\n  "a": 1\n}\n');
    assert.deepEqual(readdirSync(folder), ["a.json"]);
  });

  it("leaves nothing where it cannot be written or put in its place", async () => {
    const folder = temporaryFolder();
    await assert.rejects(writeJson(join(folder, "none", "a.json"), {}), { code: "ENOENT" });
    mkdirSync(join(folder, "a.json"));
    await assert.rejects(writeJson(join(folder, "a.json"), {}));
    assert.deepEqual(readdirSync(folder), ["a.json"]);
  });

  it("never replaces anything where it is linked", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.json");
    await writeJson(path, 1, link);
    await assert.rejects(writeJson(path, 2, link), { code: "EEXIST" });
    assert.deepEqual([readFileSync(path, "utf8"), readdirSync(folder)], ["1\n", ["a.json"]]);
  });
});
