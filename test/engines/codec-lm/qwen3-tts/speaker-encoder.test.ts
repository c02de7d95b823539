import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Fields, readFields } from "../../../../src/engines/codec-lm/fields.ts";
import {
  MIN_SAMPLES,
  melSpectrum,
  openSpeakerEncoder,
  type SpeakerEncoder,
  speakerEncoderSizes,
  speakerMelFilters,
} from "../../../../src/engines/codec-lm/qwen3-tts/speaker-encoder.ts";
import { openWeights, type Weights } from "../../../../src/onnx/weights-folder.ts";
import { assertNear, QWEN3_TTS, readArrays } from "../goldens.ts";

const FOLDER = join(QWEN3_TTS, "tiny-base");
const arraysOf = (name: string) => readArrays(join(QWEN3_TTS, "speaker-cases", `${name}.safetensors`));

describe("The speaker encoder", () => {
  let weights: Weights;
  let encoder: SpeakerEncoder;

  before(async () => {
    const config = await readFields(FOLDER, "config.json");
    weights = await openWeights(FOLDER, "model.safetensors");
    encoder = await openSpeakerEncoder(weights, speakerEncoderSizes(config.group("speaker_encoder_config")));
  });

  after(async () => {
    await Promise.all([encoder.release(), weights.close()]);
  });

  for (const name of ["voice-a", "voice-b", "voice-short"]) {
    test(`computes the reference's spectrum and vector of "${name}"`, async () => {
      const arrays = await arraysOf(name);
      const audio = arrays.floats("audio");
      const mels = melSpectrum(audio);
      const frames = mels.length / 128;
      // The reference's layout is frame by frame.
      const byFrame = mels.map((_, at) => mels[(at % 128) * frames + Math.floor(at / 128)]!);
      assertNear(byFrame, arrays.floats("mel"), 1e-3, "the spectrum");
      assertNear(await encoder.embed(audio), arrays.floats("embedding"), 2e-3, "the vector");
    });
  }

  test("has the reference's filters", async () => {
    assertNear(speakerMelFilters(), (await arraysOf("voice-a")).floats("mel_basis"), 1e-6, "the filters");
  });

  test("embeds the shortest clip", async () => {
    const audio = (await arraysOf("voice-a")).floats("audio").slice(0, MIN_SAMPLES);
    assert.ok((await encoder.embed(audio)).every(Number.isFinite));
  });
});

test("speakerEncoderSizes has the reference's defaults, and rejects sizes that do not fit", () => {
  const sizes = (more: object) => speakerEncoderSizes(new Fields({ enc_dim: 1_024, ...more }, "it"));
  assert.deepEqual(sizes({ sample_rate: 24_000 }), {
    width: 1_024,
    channels: [512, 512, 512, 512, 1_536],
    kernels: [5, 3, 3, 3, 1],
    dilations: [1, 2, 3, 4, 1],
    attentionChannels: 128,
    parts: 8,
    gateChannels: 128,
  });
  assert.throws(() => sizes({ enc_channels: [512, 512, 512, 512, 512] }), /do not fit together/);
  assert.throws(() => sizes({ enc_res2net_scale: 7 }), /do not fit together/);
  assert.throws(() => sizes({ sample_rate: 16_000 }), /sample_rate has to be 24000/);
});
