import assert from "node:assert/strict";
import type { Manner } from "../../src/core/script.ts";
import { mannerHeader, readManner, TRAITS } from "../../src/serving/prepare/read-manner.ts";
import { bentBytes } from "./bent-bytes.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";

/** Fuzzes speaking instructions: figures within their bounds and a valid header. */
export const mannerFuzz: Fuzzer = {
  run: async (random) => check(make(random)),
  make,
  check,
  async close() {},
};

/** Bounds of the combined figures, as in `read-manner.ts`. */
const BOUNDS: Readonly<Record<keyof Manner, readonly [number, number]>> = {
  tempo: [0.75, 1.25],
  pitch: [0.84, 1.19],
  range: [0.5, 1.6],
  pause: [0.6, 1.6],
  levelDb: [-9, 5],
};

const WORDS = [
  ...TRAITS.keys(),
  ..."not never don't isn't without too less very slightly a bit and or nor but rather than instead of only".split(
    " ",
  ),
  ..."low high deep voice volume pitch energy whisper shout keep it down take your time pirate".split(" "),
  ...[",", ".", ":", "\n", "\r\n", "'", "’", "''''", "n't", "ﬁne", "İ", "悲しい", "é", "\u0000", "<b>"],
];

function make(random: Random): Uint8Array {
  const count = Math.floor(random() ** 3 * 2_000);
  const words = Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]!);
  const text = Buffer.from(words.join(random() < 0.9 ? " " : ""));
  return random() < 0.5 ? text : bentBytes(text, text, random);
}

async function check(input: Uint8Array): Promise<void> {
  const text = new TextDecoder().decode(input);
  const read = readManner(text);
  if (read === null) return;
  for (const [name, [min, max]] of Object.entries(BOUNDS)) {
    const value = read.asked.figures[name as keyof Manner];
    assert.ok(value >= min && value <= max, `${name} is ${value}`);
  }
  for (const takes of ["figures", "words", undefined] as const)
    assert.match(mannerHeader(read, takes), /^[A-Za-z0-9 ,:;]{1,500}$/);
}
