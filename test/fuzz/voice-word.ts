import assert from "node:assert/strict";
import { ServiceError } from "../../src/contract/errors.ts";
import { EMBEDDED_VOICES } from "../../src/models/public-models.ts";
import { checkVoice, chooseVoice } from "../../src/serving/prepare/choose-voice.ts";
import { bentBytes } from "./bent-bytes.ts";
import { diceOf } from "./dice.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";

/** Fuzzes the voice parameter: a known voice with shares that add up to 1, a label, a recording's name, or a refusal. */
export const voiceWordFuzz: Fuzzer & Required<Pick<Fuzzer, "make" | "check">> = {
  run: async (random) => check(make(random)),
  make,
  check,
  async close() {},
};

const PIECES = [
  ...EMBEDDED_VOICES.flatMap(({ id, name, aliases }) => [id, name, aliases[0] ?? "x"]),
  ..."+ + + ( ) (2) (0.5) (.001) (1000) (-1) (0) (1e3) (NaN) (0.0005)".split(" "),
  ...["()", " ", "\t", "Anna", "voice_1", "NOVA", "ＮＯＶＡ", "\u3164", "\u0000", "\ud800", "__proto__", "İ"],
  ...["x".repeat(300), "9".repeat(400)],
];

function make(random: Random): Uint8Array {
  const dice = diceOf(random);
  const word = Buffer.from(dice.several(0, dice.chance(0.1) ? 60 : 8, () => dice.one(PIECES)).join(""));
  return dice.chance(0.7) ? word : bentBytes(word, word, random);
}

const CASTS = [
  { mixes: false, samples: false },
  { mixes: true, samples: false },
  { mixes: false, samples: true },
  { mixes: true, samples: true },
].map((takes) => ({ id: "m", speakers: ["0", "1"], voices: EMBEDDED_VOICES, takes }));

async function check(input: Uint8Array): Promise<void> {
  const word = new TextDecoder().decode(input);
  for (const cast of CASTS) {
    refusalOf(() => checkVoice(word, "voice", cast, ["Anna", "voice"]));
    refusalOf(() => {
      const { voice, speaker, customVoice: own } = chooseVoice(word, "voice", cast);
      assert.equal(own !== undefined, voice === undefined && speaker === undefined);
      if (own !== undefined) assert.ok(cast.takes.samples && own.name !== "" && !/[+()]/.test(own.name));
      if (speaker !== undefined) assert.ok(cast.speakers.includes(speaker));
      if (voice === undefined) return;
      const ids = voice.map((part) => ("id" in part ? part.id : ""));
      assert.ok(ids.every((id) => EMBEDDED_VOICES.some((each) => each.id === id)));
      assert.equal(new Set(ids).size, ids.length, "a voice is listed twice");
      assert.ok(voice.length === 1 || cast.takes.mixes);
      assert.ok(voice.every(({ weight }) => weight > 0 && weight <= 1));
      assert.ok(Math.abs(voice.reduce((sum, { weight }) => sum + weight, 0) - 1) < 1e-9);
    });
  }
}

/** Throws other errors than readable refusals. */
function refusalOf(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    assert.deepEqual([error.status, error.param], [400, "voice"]);
    assert.ok(error.message.length < 700, error.message);
    assert.doesNotMatch(error.message, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    assert.ok(error.message.isWellFormed());
  }
}
