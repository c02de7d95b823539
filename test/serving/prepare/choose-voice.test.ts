import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../../src/contract/errors.ts";
import { OPENAI_VOICES } from "../../../src/contract/voices.ts";
import type { ModelVoice } from "../../../src/core/model-card.ts";
import { KOKORO_VOICES } from "../../../src/models/kokoro-voices.ts";
import {
  EMBEDDED_VOICES,
  findModel,
  PUBLIC_MODELS,
  type PublicModel,
} from "../../../src/models/public-models.ts";
import { checkVoice, chooseSpeaker, chooseVoice } from "../../../src/serving/prepare/choose-voice.ts";
import { resolveConverse, resolveTts } from "../../../src/serving/prepare/resolve-request.ts";

const embedded = PUBLIC_MODELS[0]!.card;
const voice = (id: string, aliases: readonly string[] = []): ModelVoice => ({
  id,
  name: id.replace("_", " "),
  sex: "female",
  language: "en-US",
  description: "A voice.",
  aliases,
});
/** A model with many voices that mixes them and follows no recordings. */
const mixing = {
  id: "mixing",
  speakers: ["0", "1"],
  voices: [voice("af_heart", ["nova"]), voice("am_onyx", ["onyx"]), voice("am_eric"), ...many("bf", 29)],
  labels: { "0": "af_heart", "1": "am_onyx" },
  takes: { mixes: true, samples: false },
};

function many(prefix: string, count: number): ModelVoice[] {
  return Array.from({ length: count }, (_, at) => voice(`${prefix}_${at}`));
}

function refusal(word: string, cast: Parameters<typeof chooseVoice>[2] = embedded): string {
  try {
    chooseVoice(word, "voice", cast);
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    assert.deepEqual([error.status, error.param], [400, "voice"]);
    return error.message;
  }
  return assert.fail(`${word} is taken`);
}

describe("a voice name", () => {
  it("may be a label, an id, a name or an OpenAI name, in any case", () => {
    for (const { id, name, aliases } of EMBEDDED_VOICES) {
      for (const word of [
        id,
        name,
        name.toUpperCase(),
        ...aliases,
        ...aliases.map((alias) => alias.toUpperCase()),
      ]) {
        const label = embedded.speakers.includes(id) ? { speaker: id } : {};
        assert.deepEqual(chooseVoice(word, "voice", embedded), { voice: [{ weight: 1, id }], ...label });
      }
    }
    assert.deepEqual(chooseVoice("am eric", "voice", mixing), { voice: [{ weight: 1, id: "am_eric" }] });
  });

  it("resolves to the label whose voice it is", () => {
    for (const word of ["0", "NOVA", "af heart", "0+nova"])
      assert.deepEqual(chooseVoice(word, "voice", mixing), {
        voice: [{ weight: 1, id: "af_heart" }],
        speaker: "0",
      });
    const same = { ...mixing, labels: { "0": "am_onyx", "1": "am_onyx" } };
    assert.deepEqual(chooseSpeaker("onyx", "voice", same), { speaker: "0" });
    assert.deepEqual(chooseSpeaker("1", "voice", same), { speaker: "0" });
  });

  it("resolves to the label alone if nothing else depends on the voice", () => {
    for (const word of ["1", "echo", "Speaker 1", "echo+1(3)"])
      assert.deepEqual(chooseSpeaker(word, "voice", embedded), { speaker: "1" });
    assert.deepEqual(chooseSpeaker("onyx", "voice", mixing), { speaker: "1" });
    for (const word of ["2", "Anna"])
      assert.deepEqual(chooseSpeaker(word, "voice", embedded), chooseVoice(word, "voice", embedded));
  });

  it("maps each of OpenAI's thirteen names to one voice of every model", () => {
    for (const { card } of PUBLIC_MODELS) {
      const names = card.voices.flatMap(({ aliases }) => aliases);
      assert.deepEqual(names.toSorted(), OPENAI_VOICES.toSorted(), card.id);
      const all = card.voices.flatMap(({ id, name, aliases }) => [id, name, ...aliases]);
      assert.equal(new Set(all.map((each) => each.toLowerCase())).size, all.length, card.id);
    }
  });

  it("of the embedded voice's people is none of Kokoro's and none of OpenAI's", () => {
    const taken = [...KOKORO_VOICES.flatMap(({ id, name }) => [id, id.slice(3), name]), ...OPENAI_VOICES];
    const lower = new Set(taken.map((each) => each.toLowerCase()));
    for (const { name } of EMBEDDED_VOICES) assert.ok(!lower.has(name.toLowerCase()), name);
  });

  it("may be the one that the embedded voice's people had before they had names", () => {
    for (const { id } of EMBEDDED_VOICES.slice(0, 13))
      assert.deepEqual(chooseVoice(`Speaker ${id}`, "voice", embedded), chooseVoice(id, "voice", embedded));
  });

  it("prefers an OpenAI alias to a voice's own name", () => {
    const cast = { ...mixing, voices: [{ ...voice("am_echo"), name: "Echo" }, voice("am_eric", ["echo"])] };
    assert.deepEqual(chooseVoice("echo", "voice", cast).voice, [{ weight: 1, id: "am_eric" }]);
  });

  it("may be a label within a mix", () => {
    assert.deepEqual(chooseVoice("0+onyx(3)", "voice", mixing).voice, [
      { weight: 0.25, id: "af_heart" },
      { weight: 0.75, id: "am_onyx" },
    ]);
  });

  it("may be a mix, with weights that add up to 1, if the model mixes", () => {
    assert.deepEqual(chooseVoice("nova(2)+onyx(1)", "voice", mixing).voice, [
      { weight: 2 / 3, id: "af_heart" },
      { weight: 1 / 3, id: "am_onyx" },
    ]);
    assert.deepEqual(chooseSpeaker("nova+af_heart(3)", "voice", mixing), { speaker: "0" });
    assert.equal(chooseVoice("echo+1(3)", "voice", embedded).speaker, "1");
    assert.match(
      refusal("nova+onyx"),
      /^voice asks for a mix, and the model svc-beta-v0\.3 speaks with one voice at a time: name one of maya, theo, greta, /,
    );
    assert.match(
      refusal("nova+2", mixing),
      /"2" is unknown: .*A mix is of voices of the model mixing alone, not of another model's or your own$/,
    );
  });

  it("may be a custom voice only if the model follows recordings", () => {
    const customVoice = { name: "Anna", field: "voice" };
    assert.deepEqual(chooseVoice("Anna", "voice", embedded), { customVoice });
    assert.match(refusal("Anna", mixing), /^voice "Anna" is unknown: the voices are af_heart, /);
    assert.match(refusal("", embedded), /^voice "" is unknown: the voices are maya, /);
  });

  it("that is unknown is rejected with the nearest name and a bounded list", () => {
    const message = refusal("af_hearr", mixing);
    assert.match(
      message,
      /^voice "af_hearr" is unknown: did you mean "af_heart"\? The voices are af_heart, /,
    );
    assert.match(message, / and 14 more, which GET \/v1\/audio\/voices lists$/);
    assert.ok(message.length < 500);
    assert.doesNotMatch(refusal("2", mixing), /did you mean/);
    assert.ok(refusal("x".repeat(900), mixing).length < 500);
  });

  it("is checked against known custom voices in any case; ids are not checked", () => {
    for (const word of ["alloy", "ANNA", "voice_abc"]) checkVoice(word, "voice", embedded, ["Anna"]);
    assert.throws(
      () => checkVoice("Anne", "voice", embedded, ["Anna"]),
      /^ServiceError: voice "Anne" is unknown: did you mean "Anna"\? The voices are .*, "Anna"$/,
    );
  });
});

describe("a request with a voice", () => {
  const model: PublicModel = { ...PUBLIC_MODELS[1]!, card: { ...embedded, ...mixing, isDefault: false } };
  const resolve = (id: string | null) => findModel([...PUBLIC_MODELS, model], id);

  it("equals the request with the voice's label, including its seed", () => {
    const request = { text: "Hello.", params: { temperature: 0 } };
    const byLabel = resolveTts({ ...request, speaker: "1" }, resolve);
    for (const voice of ["echo", "theo", "THEO"])
      assert.deepEqual(resolveTts({ ...request, voice }, resolve), byLabel);
    assert.deepEqual(resolveTts({ ...request, speaker: "0", voice: "Speaker 1" }, resolve), byLabel);
    const other = resolveTts({ ...request, model: "mixing", voice: "am_eric" }, resolve);
    assert.deepEqual(other.voice, [{ weight: 1, id: "am_eric" }]);
    assert.deepEqual(resolveTts({ ...request, voice: "Anna" }, resolve).customVoice, {
      name: "Anna",
      field: "voice",
    });
  });

  it("with a conversation applies the voice to the speaking label only", () => {
    const conversation = [
      { speaker: "1", text: "Well?" },
      { speaker: "0", text: "Yes." },
    ];
    const cast = (voices: Record<string, string>) => resolveConverse({ conversation, voices }, resolve);
    assert.deepEqual(cast({ "0": "echo" }).voice, [{ weight: 1, id: "1" }]);
    assert.equal(cast({ "1": "nova" }).voice, undefined);
    assert.equal(cast({}).voice, undefined);
    assert.deepEqual(cast({ "0": "Anna", "1": "Ben" }).customVoice, { name: "Anna", field: 'voices["0"]' });
    assert.deepEqual(cast({ "0": "echo" }).conversation.open, { speaker: "0", text: "Yes." });
    const mixed = (word: string) =>
      resolveConverse({ conversation, voices: { "0": word }, model: "mixing" }, resolve).voice;
    assert.deepEqual(mixed("1"), [{ weight: 1, id: "am_onyx" }], "another label's voice");
    assert.deepEqual(mixed("0"), [{ weight: 1, id: "af_heart" }], "its own, whatever audio its turns have");
  });

  it("is rejected for an unknown label or voice, even of a silent label", () => {
    const conversation = [{ speaker: "0", text: "Yes." }];
    const cast =
      (voices: Record<string, string>, of = "mixing") =>
      () =>
        resolveConverse({ conversation, voices, model: of }, resolve);
    assert.throws(
      cast({ "2": "nova" }),
      /^ServiceError: voices\["2"\] names no speaker of the conversation or the model: name one of "0", "1"$/,
    );
    assert.throws(cast(JSON.parse('{"__proto__": "nova"}')), /voices\["__proto__"\] names no speaker/);
    assert.throws(cast({ "1": "nobody" }), /^ServiceError: voices\["1"\] "nobody" is unknown/);
    assert.throws(cast({ "0": "2" }), /^ServiceError: voices\["0"\] "2" is unknown/);
    assert.throws(cast({ "0": "nova+onyx" }, "svc-beta-v0.3"), /^ServiceError: voices\["0"\] asks for a mix/);
  });
});

describe("a conversation of named speakers", () => {
  const resolve = (id: string | null) => findModel(PUBLIC_MODELS, id);
  const params = { temperature: 0 };
  const resolved = (labels: readonly string[], voices: Record<string, string>) => {
    const conversation = labels.map((speaker, at) => ({ speaker, text: `Turn ${at}.` }));
    return resolveConverse({ conversation, voices, params }, resolve);
  };
  const positions = ({ conversation: { history, open } }: ReturnType<typeof resolved>) =>
    [...history, open].map(({ speaker }) => speaker);

  it("equals the conversation of their positions, but for the reported speaker", () => {
    const named = resolved(["Anna", "Ben", "Anna"], { Anna: "onyx", Ben: "nova" });
    assert.deepEqual(named, { ...resolved(["0", "1", "0"], { "0": "onyx", "1": "nova" }), speaker: "Anna" });
    assert.equal(resolved(["0", "1"], {}).speaker, "1");
  });

  it("takes any names, each with a position of its own", () => {
    const names = [
      "constructor",
      "__proto__",
      "Anna",
      "anna",
      "ANNA",
      "\u05d3\u05e0\u05d4",
      "\u202eAnna",
      "2",
      "toString",
    ];
    const voices = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}: "nova"`)}}`);
    const found = resolved(names, voices);
    assert.equal(new Set(positions(found)).size, names.length);
    assert.ok(positions(found).every((each) => /^\d$/.test(each)));
    assert.equal(found.speaker, "toString");
    const many = Array.from({ length: 64 }, (_, at) => `Speaker no. ${at}`);
    const all = resolved(many, Object.fromEntries(many.map((name) => [name, "nova"])));
    assert.equal(new Set(positions(all)).size, 64);
  });

  it("keeps the model's labels, and one of them for the open turn", () => {
    assert.deepEqual(positions(resolved(["1", "Anna", "1"], { Anna: "nova" })), ["1", "0", "1"]);
    assert.deepEqual(positions(resolved(["0", "1", "Anna"], { Anna: "nova" })), ["2", "1", "0"]);
    assert.deepEqual(positions(resolved(["A", "B", "C", "A", "C"], { A: "nova", B: "nova", C: "nova" })), [
      ...["2", "1", "0", "2", "0"],
    ]);
    const { voice } = resolved(["0", "1", "Anna"], { Anna: "echo" });
    assert.deepEqual(voice, [{ weight: 1, id: "1" }]);
  });

  it("is refused if a name has no voice, or a voice no speaker", () => {
    assert.throws(
      () => resolved(["Anna", "Ben"], { Ben: "nova" }),
      /^ServiceError: conversation\[0\]\.speaker "Anna" is none of the model's speakers \("0", "1"\): give it a voice in voices, as in \{"Anna": ".+"\}$/,
    );
    assert.throws(
      () => resolved(["Anna"], { Anna: "nova", ANNA: "onyx" }),
      /voices\["ANNA"\] names no speaker of the conversation or the model: name one of "Anna", "0", "1"$/,
    );
    assert.throws(() => resolved(["toString"], {}), /conversation\[0\]\.speaker "toString" is none/);
  });

  it("may have custom voices", () => {
    const { customVoice, otherCustomVoices } = resolved(["Ben", "Anna"], { Anna: "Mine", Ben: "Yours" });
    assert.deepEqual(customVoice, { name: "Mine", field: 'voices["Anna"]' });
    assert.deepEqual(otherCustomVoices, [{ name: "Yours", field: 'voices["Ben"]' }]);
  });
});
