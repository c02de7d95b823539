import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ServiceError } from "../../../src/contract/errors.ts";
import { PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { buildScript } from "../../../src/serving/prepare/build-script.ts";
import { chooseLanguage, telephoneLanguage } from "../../../src/serving/prepare/choose-language.ts";
import { resolveDialogue } from "../../../src/serving/prepare/resolve-dialogue.ts";
import {
  type ResolvedRequest,
  resolveConverse,
  resolveTts,
} from "../../../src/serving/prepare/resolve-request.ts";
import { lineScript } from "../../../src/serving/reply/speak-dialogue.ts";
import { KOKORO_MODEL } from "../../models/kokoro-model.ts";

const embedded = PUBLIC_MODELS[0]!;
const kokoro = { ...KOKORO_MODEL, card: { ...KOKORO_MODEL.card, id: "kokoro" } };
const resolve = () => kokoro;
const HOLA = "Hola, ¿cómo estás? Hace un día muy bueno.";

const refusal = (run: () => unknown): ServiceError => {
  try {
    run();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  return assert.fail("not refused");
};
const scriptOf = (prepared: ResolvedRequest) => buildScript(prepared, {});

describe("the language of a request", () => {
  const tts = (asked: object) => resolveTts({ text: HOLA, ...asked }, resolve);

  test("gives the embedded voice's labels and OpenAI's names its speakers of Spanish", () => {
    const chosen = (voice: string, language: string | null = null) => {
      const { speaker, voice: [part] = [] } = resolveTts({ text: HOLA, voice, language }, () => embedded);
      return part !== undefined && "id" in part ? part.id : speaker;
    };
    const names = ["0", "nova", "paloma", "1", "onyx", "Mateo"];
    const all = names.flatMap((name) => [chosen(name, "es"), chosen(name)]).join();
    assert.equal(all, "0,0,0,0,0,13,1,1,1,7,1,14");
    assert.match(refusal(() => chosen("maya", "es")).message, /name one of paloma, mateo$/);
  });

  test("gives the labels and OpenAI's names people who speak it", () => {
    for (const [asked, speaker] of [
      [{}, "0"],
      [{ speaker: "1" }, "1"],
      [{ voice: "alloy" }, "0"],
      [{ voice: "onyx" }, "1"],
      [{ voice: "ef_dora" }, "0"],
      [{ voice: "Alex" }, "1"],
    ] as const) {
      for (const language of ["es", "ES", "es-MX", "es_ES", "spanish"]) {
        const script = scriptOf(tts({ language, ...asked }));
        assert.deepEqual([script.language, script.speaker, script.voice], ["es", speaker, undefined]);
      }
    }
    assert.deepEqual(scriptOf(tts({ language: "es", voice: "em_santa" })).voice, [
      { weight: 1, id: "em_santa" },
    ]);
    assert.equal(scriptOf(tts({ language: "en-GB" })).language, "en-GB");
  });

  test("changes nothing where the usual voices speak it, or where it is empty", () => {
    const plain = { ...tts({}), seed: null };
    for (const language of [null, "", " ", "en", "en-US", "English", "en-AU"]) {
      const asked = tts({ language });
      assert.deepEqual([asked.language, asked.voice], [undefined, undefined], `${language}`);
      if (!language?.trim()) assert.deepEqual({ ...asked, seed: null }, plain);
    }
  });

  test("is the voice's where none is named", () => {
    const { language, voice, cautions } = tts({ voice: "dora" });
    assert.deepEqual([language, voice, cautions], [undefined, [{ weight: 1, id: "ef_dora" }], undefined]);
  });

  test("is refused if it is unknown, or not spoken, or not the voice's", () => {
    const unknown = refusal(() => tts({ language: "xx" }));
    assert.equal(unknown.param, "language");
    assert.match(unknown.message, /"xx" is unknown: send a language tag, such as en-US, en-GB, es, it$/);
    const unspoken = refusal(() => tts({ language: "fr" }));
    assert.match(
      unspoken.message,
      /"fr" is not spoken by the model kokoro: .*, es \(Spanish\), it \(Italian\)$/,
    );
    for (const voice of ["bella", "af_heart+ef_dora", "bella+af_sky"]) {
      const { status, param, message } = refusal(() => tts({ language: "es", voice }));
      assert.deepEqual([status, param], [400, "voice"]);
      assert.match(
        message,
        /speaks "en-US", and language asks for another: .*name one of dora, alex, em_santa$/,
      );
    }
    assert.match(refusal(() => tts({ language: "es", voice: "af_sky", model: "kokoro" })).message, /af_sky/);
  });

  test("auto is that of the text, where it is clear and the voice speaks it", () => {
    const auto = (asked: object) => tts({ language: "auto", ...asked });
    assert.deepEqual([auto({}).language, auto({ voice: "alloy" }).language], ["es", "es"]);
    assert.deepEqual(
      [auto({ text: "Ok." }).language, auto({ text: "Hello, how are you today?" }).language],
      [undefined, undefined],
    );
    assert.deepEqual(
      [auto({ voice: "bella" }).language, auto({ voice: "bella" }).voice],
      [undefined, [{ weight: 1, id: "af_bella" }]],
    );
    assert.equal(auto({ text: "Ich habe heute leider keine Zeit für dich." }).language, undefined);
    const body = { conversation: [{ text: HOLA }, { speaker: "1" }], language: "auto" };
    assert.equal(resolveConverse(body, resolve).language, "es");
    assert.equal(resolveDialogue({ script: `Ana: ${HOLA}`, language: "auto" }, resolve).language, "es");
  });

  test("is that of a conversation's open turn and of its recorded voices", () => {
    const conversation = [{ speaker: "Ana", text: "Hola." }, { speaker: "Bea" }];
    const voices = { Ana: "alex", Bea: "nova" };
    const prepared = resolveConverse({ conversation, voices, language: "es" }, resolve);
    assert.deepEqual([prepared.language, prepared.voice], ["es", [{ weight: 1, id: "ef_dora" }]]);
    assert.deepEqual(tts({ voice: "Bob", language: "it" }).customVoice, { name: "Bob", field: "voice" });
  });

  test("is that of a dialogue's speakers", () => {
    const script = "Ana: Hola, ¿qué tal?\nBea: Muy bien, gracias.\nLeo: Hello there, how are you?";
    const { dialogue } = resolveDialogue({ script, language: "es" }, resolve);
    assert.equal(dialogue.speakers.map(({ voice }) => voice).join(), "Dora,Alex,em_santa");
    const mixed = resolveDialogue({ script, voices: { Ana: "dora", Bea: "alex", Leo: "bella" } }, resolve);
    assert.equal(mixed.cautions, undefined);
    const spoken = [0, 1, 2].map((line) => lineScript(mixed, { keyId: "", preset: {} }, line, 99));
    const ids = spoken.flatMap(({ voice = [] }) => voice.map((part) => "id" in part && part.id));
    assert.equal(ids.join(), "ef_dora,em_alex,af_bella");
  });

  test("is passed on as it is where a model does not say what it speaks", () => {
    const voices = kokoro.card.voices.map((voice) => ({ ...voice, language: null }));
    assert.equal(chooseLanguage("fr", { ...kokoro.card, voices }).language, "fr");
    assert.throws(() => chooseLanguage("xx", { ...kokoro.card, voices }), /is unknown/);
  });
});

test("a text in another language than its voice's is spoken, and the caution names voices", () => {
  const cautions = (text: string, voice?: string) =>
    resolveTts({ text, ...(voice && { voice }) }, resolve).cautions?.join();
  assert.equal(
    cautions(HOLA),
    "the text looks like Spanish, and the model kokoro reads it as if it were English: Spanish is spoken by dora, alex, em_santa",
  );
  assert.match(
    cautions("Questa sera vorrei mangiare con mio fratello.", "dora") ?? "",
    /looks like Italian.* Spanish: Italian is spoken by sara, nicola$/,
  );
  const english = "I would like to know what they have said about the weather in this town.";
  assert.match(
    cautions(english, "dora") ?? "",
    /looks like English, .* as if it were Spanish: English is spoken by/,
  );
  assert.equal(cautions(english), undefined);
  assert.equal(cautions(HOLA, "dora"), undefined);
  assert.equal(cautions("¿Quieres un café? Son las 15:30.", "dora"), undefined);
  assert.equal(cautions("He visto que has ido a casa.", "dora"), undefined);
  const [plain = ""] = resolveTts({ text: HOLA }, () => embedded).cautions ?? [];
  assert.match(plain, /as if it were English: Spanish is spoken by paloma, mateo$/);
});

test("telephoneLanguage ignores English, and what is not spoken", () => {
  assert.equal(telephoneLanguage("es-ES", "0", kokoro.card), "es-ES");
  for (const language of ["en-GB", "fr", "xx", undefined])
    assert.equal(telephoneLanguage(language, "0", kokoro.card), undefined);
  assert.equal(telephoneLanguage("es-ES", "bella", kokoro.card), undefined);
  assert.equal(telephoneLanguage("es-ES", "0", embedded.card), "es-ES");
  assert.equal(telephoneLanguage("it-IT", "0", embedded.card), undefined);
});

test("pronunciations are read in the alphabet of the voice's language", () => {
  const say = (asked: object) => resolveTts({ text: "Hola.", voice: "dora", ...asked }, resolve);
  assert.deepEqual(say({ lexicon: { web: "/wˈeβ/" } }).lexicon, [["web", "/wˈeβ/"]]);
  assert.match(
    refusal(() => say({ lexicon: { web: "/wˈəb/" } })).message,
    /character 4 of what is said \("ə"\) is not a phoneme/,
  );
  assert.match(refusal(() => say({ text: "La [web](/wˈəb/)." })).message, /character 13 \("ə"\)/);
  const ssml = '<speak>La <phoneme ph="rˈoxo">x</phoneme>.</speak>';
  assert.match(JSON.stringify(say({ text: ssml }).conversation.open.marked), /rˈoxo/);
});
