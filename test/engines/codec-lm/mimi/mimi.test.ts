import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readFields } from "../../../../src/engines/codec-lm/fields.ts";
import type { CodeFrame, FrameDecoder } from "../../../../src/engines/codec-lm/mimi/frame-decoder.ts";
import {
  type MimiEncoder,
  openMimiDecoder,
  openMimiEncoder,
} from "../../../../src/engines/codec-lm/mimi/mimi.ts";
import { mimiSizes } from "../../../../src/engines/codec-lm/mimi/sizes.ts";
import { openWeights, type Weights } from "../../../../src/onnx/weights-folder.ts";
import { assertNear, CSM, readArrays } from "../goldens.ts";
import { assertSameInPieces, assertSameTogether, assertStrangersRefused } from "../together.ts";

const FOLDER = join(CSM, "csm-tiny");
const CASES = ["noise", "chirp", "harmonics", "short"];
const arraysOf = (name: string) => readArrays(join(CSM, "mimi-cases", `${name}.safetensors`));

describe("Mimi", () => {
  let weights: Weights;
  let encoder: MimiEncoder;
  let decoder: FrameDecoder;
  let onTwoThreads: FrameDecoder;

  before(async () => {
    const sizes = mimiSizes((await readFields(FOLDER, "config.json")).group("codec_config"));
    weights = await openWeights(FOLDER, "model.safetensors");
    encoder = await openMimiEncoder(weights, "codec_model.", sizes, sizes.codebooks);
    decoder = await openMimiDecoder(weights, "codec_model.", sizes);
    onTwoThreads = await openMimiDecoder(weights, "codec_model.", sizes, { threads: 2 });
  });

  after(async () => {
    await Promise.all([encoder, decoder, onTwoThreads].map((each) => each.release()));
    await weights.close();
  });

  const decoded = (frames: readonly CodeFrame[]) => decoder.begin().decode(frames);

  for (const name of CASES) {
    test(`encodes and decodes "${name}" as the reference`, async () => {
      const arrays = await arraysOf(name);
      const codes = arrays.rows("codes");
      assert.deepEqual(await encoder.encode(arrays.floats("audio")), codes);
      assertNear(await decoded(codes), arrays.floats("waveform"), 1e-4, "the waveform");
      const first = await decoded(codes.map((frame) => frame.slice(0, 8)));
      assertNear(first, arrays.floats("waveform_first_8_codebooks"), 1e-4, "8 codebooks");
    });

    test(`decodes "${name}" in any chunks alike`, async () => {
      const codes = (await arraysOf(name)).rows("codes");
      for (const steps of [[1], [3, 1, 2]]) await assertSameInPieces(decoder, codes, steps, 1e-5);
    });
  }

  test("decodes streams in a batch as alone, to the bit, in one or two threads", async () => {
    await assertSameTogether([decoder, onTwoThreads], (await arraysOf("noise")).rows("codes"));
  });

  test("rejects another decoder's stream, or the same twice", async () => {
    await assertStrangersRefused(decoder, (await arraysOf("short")).rows("codes")[0]!);
  });

  test("continues after primed frames", async () => {
    const codes = (await arraysOf("harmonics")).rows("codes");
    const stream = decoder.begin();
    await stream.prime(codes.slice(0, 7));
    const rest = await stream.decode(codes.slice(7, 12));
    assertNear(rest, (await decoded(codes)).slice(7 * 1_920, 12 * 1_920), 1e-5, "what follows");
  });

  test("encodes a repeated sound alike across its chunks", async () => {
    const period = 20;
    const once = (await arraysOf("harmonics")).floats("audio").slice(0, period * 1_920);
    const audio = new Float32Array(6 * once.length);
    for (let at = 0; at < 6; at++) audio.set(once, at * once.length);
    const frames = await encoder.encode(audio);
    assert.equal(frames.length, 6 * period);
    for (let at = 2 * period; at + period < frames.length; at++)
      assert.deepEqual(frames[at], frames[at + period], `frame ${at}`);
  });
});
