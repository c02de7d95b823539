import assert from "node:assert/strict";
import { it } from "node:test";
import { VISEMES } from "../../../src/contract/spoken.ts";
import { MouthTimeline, mouthPlan } from "../../../src/engines/prosody/mouth-timeline.ts";
import { tables } from "../../text/voice.ts";

const byId = new Map([...tables.vocabulary].map(([phoneme, id]) => [id, phoneme]));
const phonemeOf = (id: number) => byId.get(id) ?? "";

/** A plan of two frames per phoneme, loud except for pauses, from frame 3, which is 3 early. */
function planOf(phonemes: string) {
  const ids = [0, ...[...phonemes].map((phoneme) => tables.vocabulary.get(phoneme)!), 0];
  const steps = new Int32Array(ids.length).fill(1).fill(3, 0, 1);
  const loud = ids.slice(1).flatMap((id) => (id === 0 || id === 3 ? [-5, -5] : [5, 5]));
  const energy = Float32Array.from([-5, -5, -5, ...loud, -5, -5, -5]);
  return { ids, steps, energy };
}

const shapes = (phonemes: string) =>
  mouthPlan(planOf(phonemes), phonemeOf).visemes.map(
    ({ name, fromFrame, toFrame }) => `${name} ${fromFrame}-${toFrame}`,
  );

it("mouthPlan joins equal visemes, makes two of a diphthong, and shapes an h as the next sound", () => {
  assert.deepEqual(shapes("pbm"), ["PP 3-9"]);
  assert.deepEqual(shapes("bI"), ["PP 3-5", "aa 5-6", "I 6-7"]);
  assert.deepEqual(shapes("hˈW"), ["aa 3-7", "U 7-9"]);
});

it("mouthPlan rests at a comma, not at a space", () => {
  assert.deepEqual(shapes("b s"), ["PP 3-5", "SS 5-9"]);
  assert.deepEqual(shapes("b, s"), ["PP 3-5", "sil 5-9", "SS 9-11"]);
});

it("mouthPlan has one of Oculus's visemes for every phoneme", () => {
  for (const [phoneme, id] of tables.vocabulary) {
    if (id <= 16 || !"AIOQWYTabdfhijklmnpstuvwzæðŋɐɑɒɔəɛɜɡɪɹʃʊʌʒʤʧθᵊᵻ".includes(phoneme)) continue;
    for (const { name } of mouthPlan(planOf(`${phoneme}ɑ`), phonemeOf).visemes)
      assert.ok((VISEMES as readonly string[]).includes(name), `${phoneme}: ${name}`);
  }
});

it("mouthPlan shapes a British o, and ignores a length mark", () => {
  assert.deepEqual(shapes("ɒd"), ["O 3-5", "DD 5-7"]);
  assert.deepEqual(shapes("ɑːd"), ["aa 3-7", "DD 7-9"]);
});

it("MouthTimeline always has a viseme, at rest around segments, and none after the end", () => {
  const heard = new MouthTimeline(24_000);
  heard.place(mouthPlan(planOf("bɑ"), phonemeOf), { atSample: 0, frame: 2, endFrame: 1_000 });
  heard.rest(12_000);
  heard.place(mouthPlan(planOf("sɑ"), phonemeOf), { atSample: 23_000, frame: 1, endFrame: 1_000 });
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
