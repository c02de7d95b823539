import assert from "node:assert/strict";
import { test } from "node:test";
import { type BodyRecipe, hostileBody } from "../../bench/crowd/body-recipe.ts";
import { gaugesIn } from "../../bench/crowd/gauges.ts";
import type { HostileGroup } from "../../bench/crowd/hostile-job.ts";
import { PUBLIC_MODELS } from "../../src/models/public-models.ts";
import { parseBody, type RequestKind } from "../../src/serving/prepare/parse-body.ts";

const PURPOSES: readonly (readonly [HostileGroup["path"], RequestKind])[] = [
  ["/v1/converse", "converse"],
  ["/v1/converse/stream", "converse"],
  ["/v1/tts", "tts"],
  ["/v1/audio/speech", "speech"],
];

for (const [path, purpose] of PURPOSES) {
  for (const kind of ["nested", "flat"] as const) {
    test(`a ${kind} body for ${path} has the requested length, and is valid`, () => {
      const { bytes } = hostileBody({ kind, bytes: 300_001 }, path);
      assert.ok(bytes.length <= 300_001 && bytes.length > 300_001 - 8, String(bytes.length));
      assert.equal(prepared(purpose, bytes).conversation.open.text, "Of course.");
    });
  }
}

test("a text has the requested length, and asks for as long a reply", () => {
  const { bytes } = hostileBody({ kind: "text", chars: 8_000, maxNewTokens: 2_048 }, "/v1/converse/stream");
  const { conversation, delivery } = prepared("converse", bytes);
  assert.deepEqual([conversation.open.text?.length, delivery.maxFrames], [8_000, 2_048]);
});

test("clips are distinct WAV files of the requested size", () => {
  const recipe: BodyRecipe = { kind: "audio", clips: [5_044, 30_044], bits: 8, rateHz: 24_000, chars: 20 };
  const body = hostileBody(recipe, "/v1/converse");
  const clips = () => prepared("converse", body.bytes).conversation.history.map(({ audio }) => audio);
  const first = clips();
  assert.deepEqual(
    first.map((clip) => clip?.samples.length),
    [5_000, 30_000],
  );
  body.freshen();
  const digests = [...first, ...clips()].map((clip) => clip?.digest);
  assert.equal(new Set(digests).size, 4);
});

test("gauges are read by name, without those that have labels", () => {
  const text = '# HELP a b\nantiphon_a 0.0125\nantiphon_b 1e-7\nantiphon_c{route="/"} 3\n';
  assert.deepEqual(
    [...gaugesIn(text)],
    [
      ["antiphon_a", 0.0125],
      ["antiphon_b", 1e-7],
    ],
  );
});

function prepared(purpose: RequestKind, bytes: Uint8Array) {
  return parseBody(purpose, bytes, (id) =>
    PUBLIC_MODELS.find(({ card }) => (id === null ? card.isDefault : card.id === id)),
  );
}
