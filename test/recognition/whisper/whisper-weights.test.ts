import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ct2Weights,
  hubWeights,
  type WhisperWeights,
} from "../../../src/recognition/whisper/whisper-weights.ts";
import { inMemory } from "../../onnx/in-memory.ts";
import { ct2Of, safetensorsOf, tinyVariables } from "./tiny-whisper.ts";

const variables = tinyVariables();
const formats: Readonly<
  Record<string, { bytes: Uint8Array; open(bytes: Uint8Array): Promise<WhisperWeights> }>
> = {
  "CTranslate2's model.bin": { bytes: ct2Of(variables), open: (bytes) => ct2Weights(inMemory(bytes)) },
  "a safetensors file": { bytes: safetensorsOf(variables), open: (bytes) => hubWeights(inMemory(bytes)) },
};

for (const [name, { bytes, open }] of Object.entries(formats)) {
  describe(name, () => {
    test("returns the sizes and every variable by Hugging Face's name", async () => {
      const weights = await open(bytes);
      assert.deepEqual(weights.sizes, {
        mels: 80,
        width: 64,
        heads: 1,
        encoderLayers: 2,
        decoderLayers: 2,
        audioPositions: 1_500,
        textPositions: 448,
        vocabulary: 51_865,
      });
      for (const [variable, { shape, data }] of variables) {
        const read = await weights.read(variable.replace("model.", ""), shape);
        assert.ok(read.length === data.length && read.every((value, at) => value === data[at]), variable);
      }
    });

    test("rejects a variable that is missing or has another shape", async () => {
      const weights = await open(bytes);
      const wrong = [
        weights.read("encoder.layers.7.fc1.weight", [256, 64]),
        weights.read("encoder.layers.0.fc1.weight", [64, 256]),
        weights.read("encoder.layers.0.fc9.weight", [256, 64]),
      ];
      for (const reading of wrong) await assert.rejects(reading, { name: "WeightsError" });
    });

    test("rejects truncated and foreign files", async () => {
      for (const length of [0, 3, 9, 40, 1_000, bytes.length >> 1, bytes.length - 500]) {
        await assert.rejects(open(bytes.slice(0, length)), { name: "WeightsError" }, `${length} bytes`);
      }
      const text = new TextEncoder().encode("<html>no such file, says a proxy in the middle</html>");
      await assert.rejects(open(text), { name: "WeightsError" });
      await assert.rejects(open(new Uint8Array(5_000)), { name: "WeightsError" });
      await assert.rejects(open(new Uint8Array(5_000).fill(255)), { name: "WeightsError" });
    });
  });
}

test("ct2Weights names another format or model", async () => {
  const other = ct2Of(variables).slice(0, 4_096);
  other[0] = 5;
  await assert.rejects(ct2Weights(inMemory(other)), /format 5; only 6/);
  const kind = ct2Of(variables).slice(0, 4_096);
  kind[6] = 0x58;
  await assert.rejects(ct2Weights(inMemory(kind)), /not those of a Whisper/);
});

test("hubWeights reads 16-bit floats", async () => {
  const bits = Uint16Array.of(0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff, 0x8000);
  const header = new TextEncoder().encode(
    JSON.stringify({ "model.a": { dtype: "F16", shape: [2, 3], data_offsets: [0, 12] }, ...SMALLEST }),
  );
  const length = new BigUint64Array([BigInt(header.length)]);
  const file = Buffer.concat([new Uint8Array(length.buffer), header, new Uint8Array(bits.buffer)]);
  const read = await (await hubWeights(inMemory(file))).read("a", [2, 3]);
  assert.deepEqual([...read], [1, -2, Math.fround(0.333251953125), 2 ** -24, 65_504, -0]);
});

/** The variables that determine a model's sizes. */
const SMALLEST = Object.fromEntries(
  ["decoder.embed_tokens.weight", "encoder.conv1.weight"]
    .concat("encoder.embed_positions.weight", "decoder.embed_positions.weight")
    .map((name) => [`model.${name}`, { dtype: "F16", shape: [0, 64], data_offsets: [0, 0] }]),
);
