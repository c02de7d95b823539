import assert from "node:assert/strict";
import { readVoiceList } from "../../src/engines/remote/list-voices.ts";
import { PUBLIC_MODELS } from "../../src/models/public-models.ts";
import { chooseVoice } from "../../src/serving/prepare/choose-voice.ts";
import { listVoices, withRemoteVoices } from "../../src/serving/voices/voice-list.ts";
import { bentBytes } from "./bent-bytes.ts";
import { diceOf } from "./dice.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";

/** Fuzzes remote voice lists: every voice that is listed can be requested by its id. */
export const voiceListFuzz: Fuzzer = {
  run: async (random) => check(make(random)),
  make,
  check,
  async close() {},
};

const IDS = [
  ..."0 1 2 nova NOVA alloy af_heart Anna anna a+b nova(2)+onyx(1) ( ) voice_abc constructor __proto__".split(
    " ",
  ),
  ...["", " ", " a", "a/b", "\u0000", "\ud800", "\u202eanna", "İ", "ﬁne", "悲しい", "x".repeat(101)],
];

function make(random: Random): Uint8Array {
  const { one, chance, several } = diceOf(random);
  const value = (): unknown => one<unknown>([one(IDS), one(IDS), null, 7, [], {}, true]);
  const entry = (): unknown => {
    if (chance(0.3)) return value();
    const fields = several(0, 6, () => [
      one(["id", "voice_id", "name", "description", "sex", "accent", "owner", "models", "aliases"]),
      chance(0.2) ? ["m"] : chance(0.1) ? "key" : value(),
    ]);
    return Object.fromEntries(fields);
  };
  const list = (): unknown => (chance(0.9) ? several(0, 20, entry) : value());
  const answer = chance(0.2) ? list() : { voices: list(), ...(chance(0.6) ? { data: list() } : {}) };
  const text = Buffer.from(JSON.stringify(answer));
  return chance(0.8) ? text : bentBytes(text, text, random);
}

async function check(input: Uint8Array): Promise<void> {
  let answer: unknown;
  try {
    answer = JSON.parse(new TextDecoder().decode(input));
  } catch {
    return;
  }
  const { card: embedded } = PUBLIC_MODELS[0]!;
  const sample = {
    clip: { samples: new Float32Array(1), sampleRateHz: 1, durationS: 1, digest: "" },
    text: null,
  };
  for (const [kind, model] of [
    ["openai", "m"] as const,
    ["antiphon", "m"] as const,
    ["antiphon", null] as const,
  ]) {
    const voices = readVoiceList(answer, { kind, model }, 10);
    assert.ok(voices.length <= 10);
    for (const samples of [true, false]) {
      const card = { ...embedded, id: "there", takes: { mixes: false, samples, anyName: true } };
      const [shown] = withRemoteVoices([card], new Map([["there", voices]]), ["Anna"]);
      const ids = shown!.voices.map(({ id }) => id.toLowerCase());
      assert.equal(new Set(ids).size, ids.length, "an id is listed twice");
      for (const { id } of shown!.voices.slice(card.voices.length)) {
        const { customVoice: own, voice } = chooseVoice(id, "voice", card);
        assert.deepEqual(samples ? own?.name : voice, samples ? id : [{ weight: 1, id }]);
      }
      listVoices([shown!], new Map([["Anna", sample]]), []);
    }
  }
}
