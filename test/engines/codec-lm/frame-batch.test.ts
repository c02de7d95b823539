import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import {
  EMPTY_UTTERANCE,
  type ModelSetup,
  type Precision,
  type Utterance,
} from "../../../src/engines/codec-lm/codec-language-model.ts";
import { CSM, openCheckpoint } from "./goldens.ts";
import { BASE } from "./qwen3-tts/cases.ts";
import { isRowAsAlone } from "./rows-alone.ts";
import { type Spoken, spoken } from "./spoken.ts";

const cacheFolder = await mkdtemp(join(tmpdir(), "antiphon-"));
after(() => rm(cacheFolder, { recursive: true }));
const never = new AbortController().signal;
const isAsAlone = await isRowAsAlone();

const KINDS: readonly [name: string, folder: string][] = [
  ["a CSM", join(CSM, "csm-tiny")],
  ["a Qwen3-TTS", BASE],
];

const opened = (folder: string, setup: Partial<ModelSetup> = {}) =>
  openCheckpoint(folder, { threads: 1, precision: "fp32", cacheFolder, signal: never, ...setup });

/** Sound that is different for each number. */
function clip(seconds: number, number: number): Float32Array {
  return Float32Array.from(
    { length: Math.round(seconds * 24_000) },
    (_, at) => 0.3 * Math.sin((at * (number + 3)) / 40) * Math.sin(at / 2_000),
  );
}

/** Utterances of which each has a history, a length and draws of its own. */
function utterances(count: number): Utterance[] {
  return Array.from({ length: count }, (_, number) => ({
    ...EMPTY_UTTERANCE,
    history: [
      { speaker: "1", text: `Turn number ${number} it is.`, audio: clip(0.3, number) },
      {
        speaker: "0",
        text: "It was there, as I said ".repeat(1 + (number % 3)),
        audio: clip(0.5 + 0.2 * number, number),
        digest: `clip ${number}`,
      },
    ],
    open: { speaker: "0", text: `And so ${"on ".repeat(number * 2)}it goes.` },
    sampling: {
      temperature: number % 4 === 0 ? 0 : 1,
      topK: number % 2 === 0 ? 20 : null,
      maxFrames: 3 + ((number * 5) % 7),
      ...(number % 3 === 0 ? { repetitionPenalty: 6, penaltyWindow: 5 } : {}),
    },
    seed: BigInt(number),
  }));
}

for (const [name, folder] of KINDS) {
  describe(`${name} that speaks several utterances at once`, () => {
    for (const precision of ["fp32", "int8", "int4"] satisfies Precision[]) {
      const skip = precision === "int4" && !isAsAlone && "this processor's kernel rounds rows in pairs";
      test(`gives each what it would have alone, to the bit, in ${precision}`, { skip }, async () => {
        const asked = utterances(8);
        const alone = await opened(folder, { precision, maxPrefixBytes: 0, threads: 2 });
        const wanted: Spoken[] = [];
        for (const utterance of asked) wanted.push(await spoken(alone, utterance));
        await alone.close();
        assert.ok(new Set(wanted.map(({ codes }) => codes.length)).size > 3);
        const together = await opened(folder, { precision, slots: 8, threads: 2 });
        const found = await Promise.all(asked.map((utterance) => spoken(together, utterance)));
        assert.deepEqual(found, wanted);
        // Once more, from what was kept, and fewer at a time.
        assert.deepEqual(await Promise.all(asked.map((each) => spoken(together, each))), wanted);
        await together.close();
      });
    }

    test("serves more than it has places for, one after the other", async () => {
      const model = await opened(folder, { slots: 2 });
      const asked = utterances(5);
      const wanted: Spoken[] = [];
      for (const utterance of asked) wanted.push(await spoken(model, utterance));
      assert.deepEqual(await Promise.all(asked.map((each) => spoken(model, each))), wanted);
      await model.close();
    });

    test("leaves the others alone when one stops, leaves or does not ask", async () => {
      const model = await opened(folder, { slots: 4 });
      const [first, second, third, fourth] = utterances(4);
      const wanted = await spoken(model, fourth!);
      const stop = new AbortController();
      const [stopped, left, resting] = [
        model.speak(first!, stop.signal),
        model.speak(second!, never),
        model.speak(third!, never),
      ];
      await Promise.all([stopped.next(), left.next(), resting.next()]);
      const going = spoken(model, fourth!);
      const pending = stopped.next();
      stop.abort();
      await assert.rejects(pending, { name: "AbortError" });
      await left.return({ stop: "finished", readTurns: [], audioTurns: [] });
      assert.deepEqual(await going, wanted);
      const rest: unknown[] = [];
      for await (const frame of resting) rest.push(frame);
      assert.ok(rest.length > 0);
      await model.close();
    });

    test("fails nobody else when one cannot go on in the middle of a frame", async () => {
      const model = await opened(folder, { slots: 4 });
      const [first, second, third] = utterances(4).slice(1);
      const wanted = [await spoken(model, first!), await spoken(model, third!)];
      // Enough for a frame and some codes of the next.
      const uniforms = Array.from({ length: 40 }, (_, at) => at / 40);
      const broken = { ...second!, sampling: { temperature: 1, maxFrames: 9 }, uniforms };
      const [one, failed, other] = await Promise.all([
        spoken(model, first!),
        spoken(model, broken).catch((error: Error) => error.message),
        spoken(model, third!),
      ]);
      assert.match(String(failed), /Only 40 draws were given/);
      assert.deepEqual([one, other], wanted);
      await model.close();
    });

    test("fails who is open when it is closed", async () => {
      const model = await opened(folder, { slots: 2 });
      const speech = model.speak(utterances(1)[0]!, never);
      await speech.next();
      const [pending] = await Promise.all([speech.next().catch((error: Error) => error), model.close()]);
      assert.ok(pending instanceof Error || pending.done === false);
      await assert.rejects(speech.next().then((step) => step.done && Promise.reject(new Error("closed"))));
    });
  });
}
