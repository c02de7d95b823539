import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import { readTar } from "../../../src/models/download/npm-source.ts";
import fc from "../../properties.ts";
import { tarOf } from "./make-package.ts";

async function read(archive: Buffer, pieceBytes: number, wanted = (_path: string) => true) {
  const pieces = Array.from({ length: Math.ceil(archive.length / pieceBytes) }, (_, at) =>
    archive.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );
  const found = new Map<string, Buffer>();
  await readTar(Readable.from(pieces), wanted, async (path, bytes) => {
    found.set(path, Buffer.concat([found.get(path) ?? Buffer.alloc(0), bytes]));
  });
  return found;
}

describe("an npm archive", () => {
  it("yields the wanted files intact from chunks of any length", async () => {
    const files = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.uint8Array({ minLength: 1, maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
      { minKeys: 1, maxKeys: 4 },
    );
    const check = async (all: Record<string, Buffer>, pieceBytes: number): Promise<void> => {
      const found = await read(tarOf(all), pieceBytes, (path) => path !== "package/a");
      const { a: _, ...wanted } = all;
      assert.deepEqual(
        [...found.keys()].sort(),
        Object.keys(wanted)
          .map((path) => `package/${path}`)
          .sort(),
      );
      for (const [path, bytes] of Object.entries(wanted))
        assert.ok(found.get(`package/${path}`)?.equals(bytes));
    };
    await fc.assert(fc.asyncProperty(files, fc.integer({ min: 1, max: 3_000 }), check));
  });

  it("is rejected if it is truncated or not a tar", async () => {
    const archive = tarOf({ a: Buffer.alloc(2_000, "a") });
    await assert.rejects(read(archive.subarray(0, 1_500), 512), /the archive is truncated/);
    await assert.rejects(read(Buffer.alloc(1_024, "x"), 512), /it sent an invalid archive/);
    const lying = Buffer.from(archive);
    lying.write("7", 124);
    await assert.rejects(read(lying, 512), /it sent an invalid archive/);
  });
});
