import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readFields } from "../../../../src/engines/codec-lm/fields.ts";
import type { CodeFrame, FrameDecoder } from "../../../../src/engines/codec-lm/mimi/frame-decoder.ts";
import { type MimiEncoder, openMimiEncoder } from "../../../../src/engines/codec-lm/mimi/mimi.ts";
import { codecSizes, openCodecDecoder } from "../../../../src/engines/codec-lm/qwen3-tts/codec-decoder.ts";
import { ENCODER_PREFIX } from "../../../../src/engines/codec-lm/qwen3-tts/manifest.ts";
import { openWeights, type Weights } from "../../../../src/onnx/weights-folder.ts";
import { assertNear, QWEN3_TTS, readArrays } from "../goldens.ts";
import { assertSameInPieces, assertSameTogether, assertStrangersRefused } from "../together.ts";

const FOLDER = join(QWEN3_TTS, "tiny-base/speech_tokenizer");
const arraysOf = (name: string) => readArrays(join(QWEN3_TTS, "codec-cases", `${name}.safetensors`));

describe("The codec of a tiny Qwen3-TTS", () => {
  let weights: Weights;
  let encoder: MimiEncoder;
  let decoder: FrameDecoder;
  let onTwoThreads: FrameDecoder;

  before(async () => {
    const sizes = codecSizes(await readFields(FOLDER, "config.json"));
    weights = await openWeights(FOLDER, "model.safetensors");
    encoder = await openMimiEncoder(weights, ENCODER_PREFIX, sizes.encoder, sizes.codebooks);
    decoder = await openCodecDecoder(weights, sizes.decoder);
    onTwoThreads = await openCodecDecoder(weights, sizes.decoder, { threads: 2 });
  });

  after(async () => {
    await Promise.all([encoder, decoder, onTwoThreads].map((each) => each.release()));
    await weights.close();
  });

  const decoded = (frames: readonly CodeFrame[]) => decoder.begin().decode(frames);

  for (const name of ["noise", "chirp", "harmonics-long", "short"]) {
    test(`encodes "${name}" as the reference`, async () => {
      const arrays = await arraysOf(name);
      assert.deepEqual(await encoder.encode(arrays.floats("audio")), arrays.rows("codes"));
    });
  }

  test("decodes as the reference, also only the first codebooks", async () => {
    const arrays = await arraysOf("decode");
    const codes = arrays.rows("codes");
    assertNear(await decoded(codes), arrays.floats("waveform"), 2e-5, "the waveform");
    const first = codes.slice(0, 12).map((frame) => frame.slice(0, 8));
    assertNear(await decoded(first), arrays.floats("waveform_partial"), 2e-5, "that of 8 codebooks");
  });

  test("decodes in any chunks alike, beyond its window", async () => {
    const codes = (await arraysOf("decode")).rows("codes");
    for (const steps of [[1], [3, 1, 7], [30]]) await assertSameInPieces(decoder, codes, steps, 2e-5);
  });

  test("decodes beyond the reference's chunk as in one go", async () => {
    const arrays = await arraysOf("decode-long");
    const stream = decoder.begin();
    const codes = arrays.rows("codes");
    await stream.decode(codes.slice(0, 150));
    await stream.decode(codes.slice(150, 299));
    const edge = await stream.decode(codes.slice(299, 304));
    assertNear(edge, arrays.floats("edge_one_shot"), 2e-5, "frames 299 to 303");
  });

  test("decodes streams in a batch as alone, to the bit, in one or two threads", async () => {
    await assertSameTogether([decoder, onTwoThreads], (await arraysOf("decode")).rows("codes"));
  });

  test("rejects another decoder's stream, or the same twice", async () => {
    await assertStrangersRefused(decoder, (await arraysOf("decode")).rows("codes")[0]!);
  });

  for (const behind of [4, 10, 25])
    test(`continues after ${behind} primed frames`, async () => {
      const codes = (await arraysOf("decode")).rows("codes");
      const whole = await decoded(codes);
      const stream = decoder.begin();
      await stream.prime(codes.slice(0, behind));
      const rest = await stream.decode(codes.slice(behind));
      assertNear(rest, whole.slice(1_920 * behind), 2e-5, "what follows");
    });
});
