import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../../src/contract/errors.ts";
import { MAX_TURN_AUDIO_BYTES } from "../../../src/contract/limits.ts";
import { DEFAULT_PARAMS } from "../../../src/contract/params.ts";
import type { ConversationTurn, ConverseRequest, TtsRequest } from "../../../src/contract/requests.ts";
import { parseConverseRequest } from "../../../src/contract/validate.ts";
import { findModel, PUBLIC_MODELS, type PublicModel } from "../../../src/models/public-models.ts";
import {
  type ResolvedRequest,
  resolveConverse,
  resolveTts,
} from "../../../src/serving/prepare/resolve-request.ts";
import { makeWav } from "../../audio/make-wav.ts";
import { anyText } from "../../contract/any-text.ts";
import fc from "../../properties.ts";

const resolve = (id: string | null) => findModel(PUBLIC_MODELS, id);
const converse = (request: ConverseRequest) => resolveConverse(request, resolve);
const tts = (request: TtsRequest) => resolveTts(request, resolve);
const still = { temperature: 0 };

const spoken = anyText(40).map((text) => `${text}x`);
const audio = fc
  .tuple(
    fc.constantFrom(8_000, 24_000, 44_100),
    fc.array(fc.integer({ min: -32_768, max: 32_767 }), { minLength: 1, maxLength: 60 }),
  )
  .map(([rateHz, samples]) => ({
    base64: makeWav({ encoding: "s16", rateHz, channels: [samples] }).toString("base64"),
    durationS: samples.length / rateHz,
  }));

interface Said {
  readonly turn: ConversationTurn;
  readonly audioS: number;
}

const speaker = fc.constantFrom(undefined, "0", "1");
const turnOf = (turn: {
  speaker: string | undefined;
  text?: string | null;
  audio_wav_b64?: string;
}): ConversationTurn => {
  const { speaker: label, ...rest } = turn;
  return label === undefined ? rest : { speaker: label, ...rest };
};
const historyTurn: fc.Arbitrary<Said> = fc.oneof(
  fc.tuple(speaker, spoken).map(([label, text]) => ({ turn: turnOf({ speaker: label, text }), audioS: 0 })),
  fc.tuple(speaker, audio, fc.constantFrom(null, "", "  ", "Yes.")).map(([label, clip, text]) => ({
    turn: turnOf({ speaker: label, text, audio_wav_b64: clip.base64 }),
    audioS: clip.durationS,
  })),
);
const openTurn = fc
  .tuple(speaker, fc.option(spoken))
  .map(([label, text]) => turnOf({ speaker: label, text }));
const conversation = fc.tuple(fc.array(historyTurn, { maxLength: 5 }), openTurn);

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

describe("a valid conversation", () => {
  it("is resolved with every turn, its characters and its audio", () => {
    fc.assert(
      fc.property(conversation, ([history, open]) => {
        const turns = [...history.map(({ turn }) => turn), open];
        const prepared = converse(parseConverseRequest({ conversation: turns }));
        const { conversation: ready, input, model, delivery } = prepared;
        assert.deepEqual(ready.open, { speaker: open.speaker ?? "0", text: open.text ?? null });
        assert.equal(ready.history.length, history.length);
        for (const [index, { speaker: label, text, audio: clip }] of ready.history.entries()) {
          const { turn, audioS } = history[index]!;
          assert.equal(label, turn.speaker ?? "0");
          assert.equal(text, turn.text?.trim() ? turn.text : null);
          assert.ok(text !== null || clip !== null);
          assert.equal(clip?.durationS ?? 0, audioS);
        }
        assert.equal(input.chars, sum(turns.map(({ text }) => [...(text ?? "")].length)));
        assert.equal(input.audioS, sum(history.map(({ audioS }) => audioS)));
        assert.ok(model.card.isDefault);
        assert.equal(delivery.maxFrames, DEFAULT_PARAMS.max_new_tokens);
      }),
    );
  });

  it("has one seed at temperature 0, and another if any turn differs", () => {
    const seed = (turns: readonly ConversationTurn[]) =>
      converse({ conversation: [...turns], params: still }).seed;
    fc.assert(
      fc.property(conversation, conversation, (one, other) => {
        const [first, second] = [one, other].map(([history, open]) => [
          ...history.map(({ turn }) => turn),
          open,
        ]);
        assert.equal(seed(first!), seed(structuredClone(first!)));
        const said = (turns: readonly ConversationTurn[]) =>
          JSON.stringify(
            turns.map((turn) => [turn.speaker ?? "0", turn.text ?? null, turn.audio_wav_b64 ?? null]),
          );
        assert.equal(seed(first!) === seed(second!), said(first!) === said(second!));
      }),
    );
  });
});

describe("the seed", () => {
  const seedOf = (turns: ConversationTurn[], rest: Partial<ConverseRequest> = {}) =>
    converse({ conversation: turns, params: still, ...rest }).seed;

  it("is equal for /v1/tts and a conversation of one turn", () => {
    assert.equal(tts({ text: "Hello.", params: still }).seed, seedOf([{ text: "Hello." }]));
    assert.equal(
      tts({ text: "Hello.", speaker: "1", params: still }).seed,
      seedOf([{ speaker: "1", text: "Hello." }]),
    );
  });

  it("differs if a turn boundary moves, or a speaker or the model changes", () => {
    const seeds = [
      seedOf([{ text: "ab" }, { text: "c" }]),
      seedOf([{ text: "a" }, { text: "bc" }]),
      seedOf([{ text: "abc" }]),
      seedOf([{ text: "ab", speaker: "1" }, { text: "c" }]),
      seedOf([{ text: "ab" }, { text: "c", speaker: "1" }]),
      seedOf([{ text: "ab" }, { text: "c" }], { model: "svc-beta-v0.2" }),
    ];
    assert.equal(new Set(seeds).size, seeds.length);
  });

  it("is equal whether a default is omitted or explicit", () => {
    assert.equal(seedOf([{ text: "a" }]), seedOf([{ text: "a", speaker: "0", audio_wav_b64: null }]));
    assert.equal(seedOf([{ text: "a" }]), seedOf([{ text: "a" }], { model: "svc-beta-v0.3" }));
    assert.equal(seedOf([{ text: "a" }]), seedOf([{ text: "a" }], { model: null }));
  });

  it("depends on temperature alone, not on acoustic_temperature", () => {
    const prepare = (params: object): ResolvedRequest => tts({ text: "a", params });
    const fine = { temperature: 0, acoustic_temperature: 1 };
    assert.equal(prepare(fine).seed, prepare(fine).seed);
    assert.equal(prepare(fine).delivery.acousticTemperature, 1);
    assert.notEqual(prepare({ temperature: 0.1 }).seed, prepare({ temperature: 0.1 }).seed);
    assert.equal(prepare({ temperature: 0.4 }).delivery.acousticTemperature, 0.4, "null follows temperature");
  });
});

describe("a clip", () => {
  const file = (samples: number[]) => makeWav({ encoding: "s16", rateHz: 24_000, channels: [samples] });
  const digestOf = (audio_wav_b64: string, speaker = "0") =>
    converse({ conversation: [{ speaker, audio_wav_b64 }, { text: "Hi." }] }).conversation.history[0]?.audio
      ?.digest;

  it("has a digest of its decoded samples, whatever its speaker or encoding", () => {
    const digest = digestOf(file([1, 2, 3]).toString("base64"));
    assert.ok(digest);
    assert.equal(digestOf(file([1, 2, 3]).toString("base64url"), "1"), digest);
    assert.equal(digestOf(`data:audio/wav;base64,${file([1, 2, 3]).toString("base64")}`), digest);
    assert.notEqual(digestOf(file([1, 2, 4]).toString("base64")), digest);
  });
});

describe("an invalid conversation", () => {
  const wav = makeWav({ encoding: "s16", rateHz: 24_000, channels: [[1, 2, 3]] }).toString("base64");
  const overCap = "A".repeat(4 * Math.ceil((MAX_TURN_AUDIO_BYTES + 3) / 3));
  const invalid: readonly [rule: string, turns: ConversationTurn[], start: string][] = [
    ["an earlier turn is empty", [{ speaker: "0" }, { text: "Hi." }], "[0] says nothing"],
    ["an earlier turn is blank", [{ text: "a" }, { text: " \n" }, { text: "b" }], "[1] says nothing"],
    ["the open turn has audio", [{ text: "Hi.", audio_wav_b64: wav }], "[0].audio_wav_b64 is not allowed"],
    [
      "the open turn has only audio",
      [{ text: "a" }, { audio_wav_b64: wav }],
      "[1].audio_wav_b64 is not allow",
    ],
    ["the open turn is empty", [{ text: "" }], "[0].text is empty"],
    ["the open turn is blank", [{ text: "\u2003\t" }], "[0].text is empty"],
    ["the open turn has nothing speakable", [{ text: "?! …" }], "[0].text has nothing speakable"],
    [
      "a label is unknown",
      [{ text: "a", speaker: "2" }, { text: "Hi." }],
      '[0].speaker "2" is none of the model\'s speakers ("0", "1"): give it a voice in voices, as in {"2": "',
    ],
    [
      "the open turn's label is unknown",
      [{ text: "Hi.", speaker: "constructor" }],
      '[0].speaker "constructor" is none of the model\'s speakers ("0", "1"): ',
    ],
    ["a label is blank", [{ text: "Hi.", speaker: " " }], "[0].speaker must be a name of 1 to 100"],
    ["a label is too long", [{ text: "Hi.", speaker: "é".repeat(101) }], "[0].speaker must be a name of"],
    ["audio is not base64", [{ audio_wav_b64: "???" }, { text: "Hi." }], "[0].audio_wav_b64: "],
    ["audio is not WAV", [{ text: "a" }, { audio_wav_b64: "QUJD" }, { text: "b" }], "[1].audio_wav_b64: "],
    ["audio is empty", [{ audio_wav_b64: "" }, { text: "Hi." }], "[0].audio_wav_b64: "],
    [
      "audio is over the cap",
      [{ audio_wav_b64: overCap }, { text: "b" }],
      "[0].audio_wav_b64 is over the cap",
    ],
  ];
  for (const [rule, turns, start] of invalid) {
    it(`is rejected with a 400 that names the turn if ${rule}`, () => {
      assert.throws(
        () => converse({ conversation: turns }),
        (error) =>
          error instanceof ServiceError &&
          error.status === 400 &&
          error.message.startsWith(`conversation${start}`),
      );
    });
  }

  it("is reported with the field names of /v1/tts there", () => {
    assert.throws(() => tts({ text: " " }), { status: 400, message: /^text is empty/ });
    assert.throws(() => tts({ text: "!" }), { status: 400, message: /^text has nothing speakable/ });
    assert.throws(() => tts({ text: "a", speaker: "9" }), {
      status: 400,
      message: /^speaker must be one of/,
    });
    for (const model of ["", "svc-beta-v0.4", "__proto__"])
      assert.throws(() => tts({ text: "a", model }), { status: 400, message: /is unknown/ });
  });

  it("is rejected by a model without the endpoint's mode", () => {
    const [any] = PUBLIC_MODELS as readonly [PublicModel, ...PublicModel[]];
    const only = (mode: "tts" | "converse") => () => ({ ...any, card: { ...any.card, modes: [mode] } });
    assert.throws(() => resolveTts({ text: "a" }, only("converse")), {
      status: 400,
      message: /does not support the mode tts/,
    });
    assert.throws(() => resolveConverse({ conversation: [{ text: "a" }] }, only("tts")), {
      status: 400,
      message: /does not support the mode converse/,
    });
  });

  it("keeps audio up to 96 kHz and decimates higher rates", () => {
    for (const [rateHz, kept] of [
      [96_000, 96_000],
      [192_000, 96_000],
      [767_999, 96_000],
    ] as const) {
      const samples = Array.from({ length: rateHz / 100 }, () => 8_192);
      const wav = makeWav({ encoding: "s16", rateHz, channels: [samples] }).toString("base64");
      const { conversation } = converse({ conversation: [{ audio_wav_b64: wav }, { text: "Hi." }] });
      const { audio } = conversation.history[0]!;
      assert.equal(audio!.sampleRateHz, kept);
      assert.ok(Math.abs(audio!.samples.length - kept / 100) <= 1, `${audio!.samples.length}`);
      assert.ok(Math.abs(audio!.durationS - 0.01) < 1e-4);
      assert.ok(audio!.samples.every((sample) => sample === 0.25));
    }
  });
});
