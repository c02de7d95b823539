import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_NEW_TOKENS, MAX_TEXT_CHARS, MIN_NEW_TOKENS } from "../../../src/contract/limits.ts";
import { FRAMES_PER_REQUEST, MAX_CHARS } from "../../../src/engines/remote/antiphon-dialect.ts";
import { RATES_HZ } from "../../../src/engines/remote/openai-dialect.ts";
import { Checkpoints } from "../../../src/settings/model-settings.ts";

test("another Antiphon is asked for what the contract allows", () => {
  assert.equal(MAX_CHARS, MAX_TEXT_CHARS);
  assert.deepEqual(FRAMES_PER_REQUEST, { min: MIN_NEW_TOKENS, max: MAX_NEW_TOKENS });
});

interface RemoteSchema {
  readonly properties: { readonly sampleRateHz: object };
}

test("samples without a head may have the rates that those of a WAV may", () => {
  const [checkpoint] = Object.values(Checkpoints.patternProperties);
  const { properties } = checkpoint as unknown as Record<"properties", { remote: RemoteSchema }>;
  const rate = properties.remote.properties.sampleRateHz;
  const { min: minimum, max: maximum } = RATES_HZ;
  assert.deepEqual({ ...rate, minimum, maximum }, { ...rate });
});
