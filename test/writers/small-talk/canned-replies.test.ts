import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { WriterError } from "../../../src/core/writer.ts";
import {
  nearestReplies,
  projected,
  readCannedReplies,
} from "../../../src/writers/small-talk/canned-replies.ts";
import fc from "../../properties.ts";
import { cannedRepliesFiles } from "./canned-replies-files.ts";
import { fewReplies } from "./few-replies.ts";

describe("readCannedReplies", () => {
  it("reads what was written", async (t) => {
    const dir = await writtenTo(t);
    const { bank, ...book } = await readCannedReplies(dir);
    const { bank: written, ...others } = fewReplies();
    assert.deepEqual(book, others);
    assert.equal(bank.length, written.length);
    for (let index = 0; index < bank.length; index++) assert.deepEqual(bank.at(index), written.at(index));
    assert.equal(bank.at(bank.length), undefined);
  });

  for (const file of ["replies.json", "replies.bin", "replies.txt.gz"]) {
    for (const [what, spoil] of [
      ["cut", (bytes: Uint8Array) => bytes.slice(0, bytes.length >> 1)],
      ["empty", () => new Uint8Array()],
      ["damaged", (bytes: Uint8Array) => bytes.map((byte) => byte ^ 1)],
    ] as const)
      it(`rejects ${file} that is ${what}, by name`, async (t) => {
        const dir = await writtenTo(t, (name, bytes) => (name === file ? spoil(bytes) : bytes));
        await assert.rejects(readCannedReplies(dir), (error) => {
          assert.ok(error instanceof WriterError);
          assert.match(error.message, new RegExp(`replies/${file} is damaged: install antiphon again`));
          return true;
        });
      });

    it(`rejects a folder without ${file}`, async (t) => {
      const dir = await writtenTo(t);
      await rm(join(dir, file));
      await assert.rejects(readCannedReplies(dir), new RegExp(`replies/${file} is missing`));
    });
  }
});

async function writtenTo(
  t: { after(work: () => Promise<void>): void },
  change = (_name: string, bytes: Uint8Array): Uint8Array => bytes,
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "replies-"));
  t.after(() => rm(dir, { recursive: true }));
  for (const [name, bytes] of cannedRepliesFiles(fewReplies()))
    await writeFile(join(dir, name), change(name, bytes));
  return dir;
}

const { bank, matrices } = fewReplies();
const replies = (newest: number[], previous: number[] | null) =>
  nearestReplies(bank, matrices, Float32Array.from(newest), previous && Float32Array.from(previous)).map(
    ({ entry }) => entry.reply,
  );

describe("nearestReplies", () => {
  it("ranks by similarity, and equals by position", () => {
    assert.deepEqual(replies([1, 0], null), ["A blue one.", "Ask your cousin.", "Aye, I sailed there!"]);
    assert.deepEqual(replies([0, 1], null)[0], "Aye, I sailed there!");
  });

  it("counts the previous turn, too", () => {
    assert.equal(replies([1, 0], [1, 0])[0], "Ask your cousin.");
    const [first] = nearestReplies(bank, matrices, Float32Array.of(1, 0), Float32Array.of(1, 0));
    assert.ok((first?.similarity ?? 0) > 0.98);
  });
});
it("projected returns vectors of length 127, but for rounding", () => {
  const vector = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(vector, (values) => {
      fc.pre(Math.hypot(...values) > 1e-6);
      const length = Math.hypot(...projected(matrices.projection, Float32Array.from(values)));
      assert.ok(Math.abs(length - 127) < 2, String(length));
    }),
  );
});
