import { gzipSync } from "node:zlib";
import { sha256 } from "../../../src/writers/packaged-file.ts";
import {
  type BankReply,
  type CannedReplies,
  INDEX_FILE,
  type IndexFile,
  MATRICES,
  MATRICES_FILE,
  TEXTS_FILE,
} from "../../../src/writers/small-talk/canned-replies.ts";

/** Returns the files of the replies by name, without the encoder, as training/replies writes them. */
export function cannedRepliesFiles(replies: CannedReplies): Map<string, Uint8Array> {
  const { encoder, acts, tones, unknown, bank, matrices } = replies;
  const inOrder = MATRICES.map(([name]) => matrices[name]);
  const bytes = Buffer.concat(
    inOrder.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );
  const lines = Array.from({ length: bank.length }, (_, index) => lineOf(bank.at(index)!));
  const packed = gzipSync(lines.join("\n"), { level: 9 });
  const lengths = Object.fromEntries(
    MATRICES.map(([name]) => [name, matrices[name].length]),
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
    [MATRICES_FILE, bytes],
    [TEXTS_FILE, packed],
  ]);
}

function lineOf({ reply, contextWords, tone, isInRole, isAnswer }: BankReply): string {
  const marks = `${tone}${isInRole ? "r" : ""}${isAnswer ? "a" : ""}`;
  return [reply, marks, contextWords.join(" ")].join("\t");
}
