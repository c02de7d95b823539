import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { joinSamples } from "../../../src/audio/pcm.ts";
import { ConversationError, type SpeechModel } from "../../../src/core/speech-model.ts";
import {
  areConverted,
  CONVERTED,
  convertGraphs,
  PUBLISHED_GRAPH,
} from "../../../src/engines/kokoro/graphs/convert.ts";
import { unusedKokoroKnobs, VOICES_FOLDER } from "../../../src/engines/kokoro/voices.ts";
import { readManner } from "../../../src/serving/prepare/read-manner.ts";
import { createWorkerPool } from "../../../src/workers/worker-pool.ts";
import { bytesOf, LONG_TEXT, never, type ScriptParts, SHORT_TEXT, speakAll } from "../../core/scripts.ts";
import { speechModelConformance } from "../../core/speech-model-conformance.ts";
import { openTiny, optionsOf, publishedFolder, tinyFolder } from "./tiny-kokoro.ts";

const voice = (...parts: readonly (readonly [id: string, weight: number])[]) =>
  parts.map(([id, weight]) => ({ id, weight }));

describe("Kokoro", () => {
  let model: SpeechModel;
  before(async () => {
    model = await openTiny();
  });
  after(() => model.close());

  test("speaks labels, voices by name, and mixes of them", async () => {
    const said = async (parts: object): Promise<Buffer> =>
      bytesOf((await speakAll(model, { text: SHORT_TEXT, ...parts })).frames);
    const heart = await said({});
    assert.ok(heart.equals(await said({ voice: voice(["af_heart", 1]) })));
    assert.ok((await said({ speaker: "1" })).equals(await said({ voice: voice(["am_michael", 1]) })));
    const mixed = await said({ voice: voice(["af_heart", 0.5], ["am_michael", 0.5]) });
    assert.ok(!mixed.equals(heart));
    assert.ok(mixed.equals(await said({ voice: voice(["am_michael", 0.5], ["af_heart", 0.5]) })));
  });

  test("follows manners and rates, and nothing else", async () => {
    const said = async (parts: ScriptParts): Promise<Float32Array> =>
      joinSamples(
        (await speakAll(model, { text: LONG_TEXT, ...parts })).frames.map(({ samples }) => samples),
      );
    const asked = (words: string) => ({ manner: readManner(words)!.asked });
    const plain = await said({});
    assert.deepEqual(await said(asked("like a pirate")), plain);
    const quiet = await said(asked("quieter"));
    assert.ok(quiet.every((sample, at) => Math.abs(sample) <= Math.abs(plain[at]!) + 1e-6));
    assert.ok((await said(asked("slower"))).length > 1.05 * plain.length);
    assert.notDeepEqual(await said(asked("higher")), plain);
    for (const rate of [0.5, 0.9, 1.25, 2]) {
      const share = ((await said({ preset: { rate } })).length * rate) / plain.length;
      assert.ok(Math.abs(share - 1) < 0.01, `${rate}: ${share}`);
    }
  });

  test("uses the British dictionary for British voices, or for most of a mix", async () => {
    const said = async (parts: ScriptParts): Promise<string> => {
      const { frames } = await speakAll(model, { text: "A hot bath, Nguyen.", hasMouth: true, ...parts });
      return frames.flatMap(({ mouth }) => mouth?.phonemes.map(({ name }) => name) ?? []).join("");
    };
    const lexicon = [["Nguyen", "/nˈuən/"]] as const;
    assert.equal(await said({ voice: voice(["bf_emma", 1]), lexicon }), "ɐhɒtbɑθnjuən");
    assert.equal(await said({ voice: voice(["af_heart", 1]), lexicon }), "ɐhɑtbæθnuən");
    assert.match(await said({ voice: voice(["af_heart", 0.4], ["bf_emma", 0.6]) }), /^ɐhɒtbɑθ/);
    assert.match(await said({ voice: voice(["af_heart", 0.6], ["bf_emma", 0.4]) }), /^ɐhɑtbæθ/);
  });

  test("repeats its bytes in another model and after other voices", async () => {
    const folder = await tinyFolder();
    const first = await openTiny(folder);
    const once = bytesOf((await speakAll(first, { text: LONG_TEXT })).frames);
    await first.close();
    const second = await openTiny(folder);
    await speakAll(second, { text: SHORT_TEXT, voice: voice(["bf_emma", 1]) });
    assert.ok(bytesOf((await speakAll(second, { text: LONG_TEXT })).frames).equals(once));
    await second.close();
  });

  test("rejects an unknown voice, and several recordings", async () => {
    await assert.rejects(speakAll(model, { voice: voice(["af_nobody", 1]) }), (error: Error) => {
      assert.ok(error instanceof ConversationError);
      return error.message.includes("af_nobody");
    });
    const clip = { samples: new Float32Array(24_000), sampleRateHz: 24_000, durationS: 1, digest: "a" };
    const sample = { weight: 0.5, sample: { clip, text: null } };
    for (const voice of [
      [sample, sample],
      [sample, { weight: 0.5, id: "af_heart" }],
    ]) {
      await assert.rejects(speakAll(model, { voice }), /follows one recording at a time/);
    }
  });

  test("speaks low quality at the same length", async () => {
    const [high, low] = await Promise.all(
      (["high", "low"] as const).map((quality) =>
        speakAll(model, { text: SHORT_TEXT, delivery: { quality } }),
      ),
    );
    assert.equal(low!.frames.length, high!.frames.length);
    assert.ok(!bytesOf(low!.frames).equals(bytesOf(high!.frames)));
  });

  test("speaks all of a very long sentence", async () => {
    const text = `${"and then we went on and on ".repeat(20).trim()}.`;
    const { report } = await speakAll(model, { text, delivery: { maxFrames: 2_000 } });
    assert.equal(report.spoken.trim(), text);
  });

  test("measures a voice once, and again where the file is damaged", async () => {
    const folder = await tinyFolder();
    const path = join(folder, "statistics", "am_michael.safetensors");
    const first = await openTiny(folder);
    assert.ok(!existsSync(path));
    const spoken = bytesOf((await speakAll(first, { speaker: "1" })).frames);
    assert.ok(existsSync(path));
    await first.close();
    truncateSync(path, 100);
    const again = await openTiny(folder);
    assert.ok(bytesOf((await speakAll(again, { speaker: "1" })).frames).equals(spoken));
    await again.close();
  });

  test("has four unused knobs", () => {
    const names = ["acousticTemperature", "penaltyWindow", "repetitionPenalty", "topK"];
    assert.deepEqual(Object.keys(unusedKokoroKnobs()).sort(), names);
  });
});

describe("convertGraphs", () => {
  test("converts again after a byte has changed", async () => {
    const folder = publishedFolder();
    assert.equal(await areConverted(folder, never()), false);
    await convertGraphs(folder);
    assert.equal(await areConverted(folder, never()), true);
    const path = join(folder, CONVERTED.folder, CONVERTED.weights);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(path, bytes);
    assert.equal(await areConverted(folder, never()), false);
    await convertGraphs(folder);
    assert.equal(await areConverted(folder, never()), true);
  });

  test("rejects a damaged graph, and leaves no files", async () => {
    for (const damage of [
      (path: string) => writeFileSync(path, "no graph"),
      (path: string) => truncateSync(path, 1_000),
      (path: string) => truncateSync(path, 0),
    ]) {
      const folder = publishedFolder();
      damage(join(folder, PUBLISHED_GRAPH));
      await assert.rejects(convertGraphs(folder), { name: "WeightsError" });
      assert.equal(existsSync(join(folder, CONVERTED.folder)), false);
    }
  });

  test("is not needed to reject a damaged or missing voice by its file's name", async () => {
    const folder = await tinyFolder();
    truncateSync(join(folder, VOICES_FOLDER, "af_heart.bin"), 522_236);
    rmSync(join(folder, VOICES_FOLDER, "am_michael.bin"));
    const model = await openTiny(folder);
    await assert.rejects(speakAll(model), /af_heart\.bin is damaged: run antiphon models pull kokoro/);
    await assert.rejects(speakAll(model, { speaker: "1" }), /no voice “am_michael”/);
    await model.close();
  });
});

const folder = tinyFolder();

speechModelConformance("a tiny Kokoro", async () => openTiny(await folder));

speechModelConformance("a tiny Kokoro in threads", async () =>
  createWorkerPool({
    entry: new URL("../../../src/engines/kokoro/model.js", import.meta.url),
    create: await optionsOf(await folder),
    size: 2,
  }),
);
