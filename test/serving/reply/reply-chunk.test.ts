import assert from "node:assert/strict";
import { test } from "node:test";
import { MarkCollector, toReplyChunk } from "../../../src/serving/reply/reply-chunk.ts";

const piece = { bytes: new Uint8Array(3_840), sampleCount: 1_920 };

test("a chunk carries the marks that begin in it, in whole milliseconds", () => {
  const word = { word: "Tea", startS: 0.0625, endS: 0.48749, offset: 0, length: 3 };
  const { bytes, marks } = toReplyChunk({ ...piece, words: [word] });
  assert.equal(bytes, piece.bytes);
  assert.deepEqual(marks, { words: [{ word: "Tea", start: 0.063, end: 0.487, offset: 0, length: 3 }] });
  assert.deepEqual(toReplyChunk(piece).marks, {}, "no marks without word times");
});

test("a complete reply joins the marks of its chunks and merges adjacent equal visemes", () => {
  const all = new MarkCollector();
  const shape = (viseme: "sil" | "PP", start: number, end: number) => ({ viseme, start, end });
  all.add({ words: [], visemes: [shape("PP", 0, 0.1), shape("sil", 0.1, 0.2)], phonemes: [] });
  all.add({ words: [], visemes: [shape("sil", 0.2, 0.4), shape("PP", 0.4, 0.5)], phonemes: [] });
  all.add({ words: [], visemes: [shape("PP", 0.6, 0.7)], phonemes: [] });
  assert.deepEqual(all.marks(), {
    words: [],
    visemes: [shape("PP", 0, 0.1), shape("sil", 0.1, 0.4), shape("PP", 0.4, 0.5), shape("PP", 0.6, 0.7)],
    phonemes: [],
  });
  assert.deepEqual(new MarkCollector().marks(), {});
});
