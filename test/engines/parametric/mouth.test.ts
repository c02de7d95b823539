import assert from "node:assert/strict";
import { test } from "node:test";
import { VISEMES } from "../../../src/contract/spoken.ts";
import { mouthPlan } from "../../../src/engines/parametric/mouth.ts";
import { MouthHeard } from "../../../src/engines/parametric/mouth-heard.ts";
import { tables } from "../../text/voice.ts";

const byId = new Map([...tables.vocabulary].map(([phoneme, id]) => [id, phoneme]));
const phonemeOf = (id: number) => byId.get(id) ?? "";

/** A plan of phonemes of two frames each, all of them loud but for pauses. */
function planOf(phonemes: string) {
  const ids = [0, ...[...phonemes].map((phoneme) => tables.vocabulary.get(phoneme)!), 0];
  const steps = new Int32Array(ids.length).fill(1);
  const energy = Float32Array.from(ids.flatMap((id) => (id === 0 || id === 3 ? [-5, -5] : [5, 5])));
  return { ids, steps, energy };
}

const shapes = (phonemes: string) =>
  mouthPlan(planOf(phonemes), phonemeOf).visemes.map(
    ({ name, fromFrame, toFrame }) => `${name} ${fromFrame}-${toFrame}`,
  );

test("equal shapes that meet are one, a diphthong has two, and an h the one that follows", () => {
  assert.deepEqual(shapes("pbm"), ["PP 2-8"]);
  assert.deepEqual(shapes("bI"), ["PP 2-4", "aa 4-5", "I 5-6"]);
  assert.deepEqual(shapes("hˈW"), ["aa 2-6", "U 6-8"]);
});

test("a space between words is no pause, and a comma is one", () => {
  assert.deepEqual(shapes("b s"), ["PP 2-6", "SS 6-8"]);
  assert.deepEqual(shapes("b, s"), ["PP 2-4", "sil 4-8", "SS 8-10"]);
});

test("every phoneme that the dictionary has is one of Oculus's shapes", () => {
  for (const [phoneme, id] of tables.vocabulary) {
    if (id <= 16 || !"AIOWYTbdfhijklmnpstuvwzæðŋɐɑɔəɛɜɡɪɹʃʊʌʒʤʧθᵊᵻ".includes(phoneme)) continue;
    for (const { name } of mouthPlan(planOf(`${phoneme}ɑ`), phonemeOf).visemes)
      assert.ok((VISEMES as readonly string[]).includes(name), `${phoneme}: ${name}`);
  }
});

test("over an utterance there is always a shape, at rest around passages, and none behind the end", () => {
  const heard = new MouthHeard(24_000);
  heard.place(mouthPlan(planOf("bɑ"), phonemeOf), { atSample: 0, frame: 1 });
  heard.rest(12_000);
  heard.place(mouthPlan(planOf("sɑ"), phonemeOf), { atSample: 23_000, frame: 0 });
  const { visemes, phonemes } = heard.take(Number.POSITIVE_INFINITY);
  assert.deepEqual(
    visemes.map(({ name, startS }) => `${name} ${startS}`),
    ["sil 0", "PP 0.0125", "aa 0.0375", "sil 0.0625", "sil 0.5", "SS 0.9833333333333333"],
  );
  for (const [at, { endS }] of visemes.slice(0, -1).entries()) assert.equal(endS, visemes[at + 1]!.startS);
  assert.equal(visemes.at(-1)!.endS, 1);
  assert.deepEqual(
    phonemes.map(({ name }) => name),
    ["b", "ɑ", "s"],
  );
});
