import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { WriterError } from "../../../src/core/writer.ts";
import { readReplyBook } from "../../../src/writers/small-talk/reply-book.ts";
import { replyBookFiles } from "./reply-book-files.ts";
import { smallBook } from "./small-book.ts";

test("a book is read as it was written", async (t) => {
  const dir = await writtenTo(t);
  const { bank, ...book } = await readReplyBook(dir);
  const { bank: written, ...others } = smallBook();
  assert.deepEqual(book, others);
  assert.equal(bank.length, written.length);
  for (let index = 0; index < bank.length; index++) assert.deepEqual(bank.at(index), written.at(index));
  assert.equal(bank.at(bank.length), undefined);
});

for (const file of ["replies.json", "replies.bin", "replies.txt.gz"]) {
  for (const [what, spoil] of [
    ["cut", (bytes: Uint8Array) => bytes.slice(0, bytes.length >> 1)],
    ["empty", () => new Uint8Array()],
    ["of other bytes", (bytes: Uint8Array) => bytes.map((byte) => byte ^ 1)],
  ] as const) {
    test(`${file} that is ${what} is refused by name, with the remedy`, async (t) => {
      const dir = await writtenTo(t, (name, bytes) => (name === file ? spoil(bytes) : bytes));
      await assert.rejects(readReplyBook(dir), (error) => {
        assert.ok(error instanceof WriterError);
        assert.match(error.message, new RegExp(`replies/${file} is damaged: install antiphon again`));
        return true;
      });
    });
  }

  test(`without ${file} it says so`, async (t) => {
    const dir = await writtenTo(t);
    await rm(join(dir, file));
    await assert.rejects(readReplyBook(dir), new RegExp(`replies/${file} is missing`));
  });
}

async function writtenTo(
  t: { after(work: () => Promise<void>): void },
  change = (_name: string, bytes: Uint8Array): Uint8Array => bytes,
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "replies-"));
  t.after(() => rm(dir, { recursive: true }));
  for (const [name, bytes] of replyBookFiles(smallBook()))
    await writeFile(join(dir, name), change(name, bytes));
  return dir;
}
