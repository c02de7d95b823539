import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { sha256OfFile } from "../../src/core/sha256-of-file.ts";
import { temporaryFolder } from "../e2e/folders.ts";

describe("the SHA-256 of a file", () => {
  it("is that of its bytes, however many", async () => {
    const path = join(temporaryFolder(), "file");
    const bytes = Buffer.alloc(600_000, "what is in a file ");
    for (const length of [0, 1, 2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1, 600_000]) {
      const piece = bytes.subarray(0, length);
      writeFileSync(path, piece);
      assert.equal(await sha256OfFile(path), createHash("sha256").update(piece).digest("hex"), `${length}`);
    }
  });

  it("rejects for an unreadable file, or an aborted signal", async () => {
    const folder = temporaryFolder();
    await assert.rejects(sha256OfFile(join(folder, "none")), { code: "ENOENT" });
    await assert.rejects(sha256OfFile(folder), { code: "EISDIR" });
    const path = join(folder, "file");
    writeFileSync(path, "there");
    const gone = new Error("gone");
    await assert.rejects(sha256OfFile(path, AbortSignal.abort(gone)), (error) => error === gone);
  });
});
