import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { runInNewContext } from "node:vm";
import { TOP } from "../architecture/top.ts";

const SOURCE = readFileSync(join(TOP, "playground/microphone-worklet.js"), "utf8");
const QUANTUM = 128;

/** Runs the worklet on a second of a tone at a sample rate. */
function heard(sampleRate: number, toneHz: number): readonly Int16Array[] {
  const pieces: Int16Array[] = [];
  class AudioWorkletProcessor {
    port = { postMessage: (piece: Int16Array) => pieces.push(Int16Array.from(piece)) };
  }
  let processor: { process(inputs: Float32Array[][]): boolean } | null = null;
  const registerProcessor = (_: string, Class: new () => NonNullable<typeof processor>) => {
    processor = new Class();
  };
  runInNewContext(SOURCE, { AudioWorkletProcessor, registerProcessor, sampleRate, Int16Array, Math });
  for (let at = 0; at < sampleRate; at += QUANTUM) {
    const sound = Float32Array.from(
      { length: QUANTUM },
      (_, index) => 0.5 * Math.sin((2 * Math.PI * toneHz * (at + index)) / sampleRate),
    );
    assert.equal(processor!.process([[sound]]), true);
  }
  // There is no channel before the microphone starts.
  assert.equal(processor!.process([[]]), true);
  return pieces;
}

describe("the page's microphone", () => {
  for (const rate of [8_000, 16_000, 24_000, 44_100, 48_000, 96_000]) {
    it(`resamples ${rate} Hz to 20 ms chunks at 24 kHz, keeping level and pitch`, () => {
      const pieces = heard(rate, 440);
      assert.ok(pieces.every(({ length }) => length === 480));
      const samples = pieces.flatMap((piece) => [...piece]);
      assert.ok(Math.abs(samples.length - 24_000) <= 960, `${samples.length} samples`);
      const crossings = samples.filter((sample, index) => sample >= 0 && samples[index - 1]! < 0).length;
      assert.ok(Math.abs(crossings - (440 * samples.length) / 24_000) <= 2, `${crossings} periods`);
      const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
      assert.ok(Math.abs(loudest / 16_384 - 1) < 0.03, `${loudest}`);
    });
  }
});
