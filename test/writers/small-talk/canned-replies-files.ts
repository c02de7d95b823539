import { gzipSync } from "node:zlib";
import { sha256 } from "../../../src/writers/packaged-file.ts";
import {
  type BankEntry,
  INDEX_FILE,
  type IndexFile,
  NUMBERS,
  NUMBERS_FILE,
  type ReplyBook,
  TEXTS_FILE,
} from "../../../src/writers/small-talk/canned-replies.ts";

/** Returns a book's files by name, without the encoder; training/replies writes them. */
export function replyBookFiles(book: ReplyBook): Map<string, Uint8Array> {
  const { encoder, acts, tones, unknown, bank, numbers } = book;
  const matrices = NUMBERS.map(([name]) => numbers[name]);
  const bytes = Buffer.concat(
    matrices.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );
  const lines = Array.from({ length: bank.length }, (_, index) => lineOf(bank.at(index)!));
  const packed = gzipSync(lines.join("\n"), { level: 9 });
  const lengths = Object.fromEntries(
    NUMBERS.map(([name]) => [name, numbers[name].length]),
  ) as IndexFile["lengths"];
  const index: IndexFile = {
    encoder,
    acts,
    tones,
    unknown,
    sha256: { numbers: sha256(bytes), texts: sha256(packed) },
    lengths,
  };
  return new Map([
    [INDEX_FILE, Buffer.from(`${JSON.stringify(index, null, 1)}\n`)],
    [NUMBERS_FILE, bytes],
    [TEXTS_FILE, packed],
  ]);
}

function lineOf({ reply, borrowed, tone, isInRole, isAnswer }: BankEntry): string {
  const marks = `${tone}${isInRole ? "r" : ""}${isAnswer ? "a" : ""}`;
  return [reply, marks, borrowed.join(" ")].join("\t");
}
