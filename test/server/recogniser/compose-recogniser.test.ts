import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { clipSource } from "../../../src/core/audio-source.ts";
import { RecogniserError } from "../../../src/core/recogniser.ts";
import {
  composeRecogniser,
  type RecogniserSources,
} from "../../../src/server/recogniser/compose-recogniser.ts";
import { loadSettings } from "../../../src/settings/load.ts";
import { temporaryFolder } from "../../e2e/folders.ts";

function composed(recogniser: object, sources: Partial<RecogniserSources> = {}) {
  const folder = temporaryFolder();
  const configFile = join(folder, "settings.json");
  writeFileSync(configFile, JSON.stringify({ dataDir: folder, recogniser }));
  return composeRecogniser(loadSettings({ configFile, env: {} }), {
    weights: async () => ({ dir: "", problem: "There are no weights." }),
    env: {},
    ...sources,
  });
}

describe("composeRecogniser", () => {
  it("defaults to the embedded recogniser, or none", () => {
    assert.equal(composed({})?.name, "whisper-base");
    assert.equal(composed({ checkpoint: "recogniser" })?.name, "whisper-base");
    assert.equal(composed({ kind: "none" }), null);
  });

  it("asks for weights when needed, and again after they were missing", async () => {
    const asked: string[] = [];
    const recogniser = composed(
      {},
      {
        async weights(checkpoint) {
          asked.push(checkpoint);
          return { dir: "", problem: "There are no weights." };
        },
      },
    );
    assert.deepEqual(asked, []);
    const fails = (error: unknown) => {
      assert.ok(error instanceof RecogniserError);
      assert.match(error.message, /^The recogniser's weights are missing or damaged\. Run antiphon models/);
      assert.match(String(error.cause), /There are no weights\./);
      return true;
    };
    await assert.rejects(recogniser!.prepare(), fails);
    await assert.rejects(recogniser!.prepare(), fails);
    assert.deepEqual(asked, ["whisper-base", "whisper-base"]);
  });

  it("reports files that it cannot open", async () => {
    const dir = temporaryFolder();
    const recogniser = composed({}, { weights: async () => ({ dir, problem: null }) });
    const { signal } = new AbortController();
    const clip = { samples: new Float32Array(8_000), sampleRateHz: 16_000, durationS: 0.5, digest: "x" };
    const options = { language: null, prompt: null, wantsWords: false, draft: null };
    const opening = [recogniser!.prepare(), recogniser!.recognise(clipSource(clip), options, signal)];
    for (const each of opening)
      await assert.rejects(each, /weights are missing or damaged\. Run antiphon models pull/);
    await recogniser!.close();
  });

  it("composes an endpoint with an address and a model", () => {
    const whole = { kind: "endpoint", baseUrl: "http://127.0.0.1:1/v1", model: "some-whisper" };
    assert.equal(composed(whole)?.name, "some-whisper");
    assert.throws(
      () => composed({ ...whole, baseUrl: undefined }),
      /recogniser\.baseUrl is missing: with this recogniser\.kind it names the endpoint's address/,
    );
    assert.throws(() => composed({ ...whole, model: undefined }), /recogniser\.model is missing/);
    assert.throws(() => composed({ ...whole, apiKeyFile: "/none" }), /recogniser\.apiKeyFile \(\/none\)/);
    assert.throws(
      () => composed(whole, { env: { ANTIPHON_RECOGNISER_API_KEY: "two words" } }),
      /ANTIPHON_RECOGNISER_API_KEY holds a line break/,
    );
  });
});
