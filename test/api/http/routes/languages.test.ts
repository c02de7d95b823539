import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { prepareResponse } from "../../../../src/api/realtime/generate-response.ts";
import { defaultSettings, updateSettings } from "../../../../src/api/realtime/session-settings.ts";
import { callSettings } from "../../../../src/api/realtime/twilio-dialect.ts";
import type { WyomingDeps } from "../../../../src/api/wyoming/requests.ts";
import { prepareSynthesize, prepareSynthesizeStream } from "../../../../src/api/wyoming/synthesize.ts";
import type { Script } from "../../../../src/core/script.ts";
import { KOKORO_MODEL } from "../../../models/kokoro-model.ts";
import { recordingTones, startTestServer, type TestServer } from "../start.ts";

const scripts: Script[] = [];
let server: TestServer;
before(async () => {
  server = await startTestServer({ checkpoints: [recordingTones(scripts)], models: [KOKORO_MODEL] });
});
after(() => server.stop());
beforeEach(() => void scripts.splice(0));

const resolve = () => KOKORO_MODEL;

test("every route that speaks takes a language", async () => {
  for (const [path, body] of [
    ["/v1/tts", { text: "Hola." }],
    ["/v1/converse", { conversation: [{ text: "Hola." }] }],
    ["/v1/audio/speech", { input: "Hola.", voice: "onyx" }],
    ["/v1/audio/dialogue", { lines: [{ voice: "0", text: "Hola." }] }],
    ["/v1/audio/telephony", { text: "Hola." }],
  ] as const) {
    const { status } = await server.post(path, { ...body, language: "es" });
    assert.equal(status, 200, path);
    const [{ language, speaker, voice }] = scripts.splice(0) as [Script];
    const label = path.endsWith("speech") ? "1" : "0";
    assert.deepEqual([language, speaker, voice], ["es", label, undefined], path);
  }
  const refused = await server.post("/v1/audio/speech", { input: "Bonjour.", language: "fr" });
  assert.deepEqual([refused.status, (await refused.json()).error.param], [400, "language"]);
  const ignored = await server.post("/v1/audio/telephony", { text: "Bonjour.", language: "fr-FR" });
  assert.deepEqual([ignored.status, scripts[0]!.language], [200, undefined]);
});

test("xml:lang gives a part of a text a person of the same sex who speaks it", async () => {
  const said = async (fields: object, ssml: string) => {
    const reply = await server.post("/v1/audio/speech", { ...fields, input: `<speak>${ssml}</speak>` });
    const [{ textVoices = {} }] = scripts.splice(0) as [Script];
    return [...Object.keys(textVoices), reply.headers.get("x-antiphon-cautions")];
  };
  const part = (tag: string) => `Hello. <lang xml:lang="${tag}">Taxi.</lang> Bye.`;
  assert.deepEqual(await said({ voice: "nova" }, part("es-MX")), ["ef_dora", null]);
  assert.deepEqual(await said({ voice: "onyx" }, part("it")), ["im_nicola", null]);
  assert.deepEqual(await said({ voice: "onyx" }, part("en-GB")), [null]);
  assert.deepEqual(await said({ language: "es", voice: "onyx" }, part("en")), ["am_michael", null]);
  assert.deepEqual(await said({}, part("fr")), ["<lang> xml:lang fr is ignored"]);
  const inVoice = '<voice name="dora"><phoneme ph="ˈaɲo">x</phoneme> <s xml:lang="es">Hola.</s></voice>';
  assert.deepEqual(await said({}, inVoice), ["dora", null]);
});

describe("GET /v1/audio/voices", () => {
  const list = async (query: string) => server.get(`/v1/audio/voices?language=${query}`);

  test("keeps the voices of a language", async () => {
    const { data, voices } = await (await list("es")).json();
    const idOf = ({ id }: Record<string, string>) => id;
    assert.deepEqual(data.map(idOf), ["ef_dora", "em_alex", "em_santa"]);
    assert.deepEqual(voices.map(idOf), data.map(idOf));
    const spoken = data.map(({ language, accent }: Record<string, string>) => `${language} ${accent}`);
    assert.deepEqual([...new Set(spoken)], ["es es"]);
    for (const [query, count] of Object.entries({ en: 28, "en-GB": 8, italian: 2, fr: 0, "": 33 }))
      assert.equal((await (await list(query)).json()).data.length, count, query);
  });

  test("has samples in the voice's language, which differ in length", async () => {
    const bytes: number[] = [];
    for (const id of ["af_sky", "ef_dora", "if_sara"]) {
      const sample = await server.get(`/v1/audio/voices/${id}/sample`);
      bytes.push((await sample.arrayBuffer()).byteLength);
    }
    assert.ok(bytes[0]! > bytes[1]! && bytes[1]! > bytes[2]!, `${bytes}`);
    const named = await server.get("/v1/audio/voices/EF_DORA/sample");
    assert.equal((await named.arrayBuffer()).byteLength, bytes[1]);
  });

  test("refuses an unknown language", async () => {
    const reply = await list("xx");
    assert.deepEqual([reply.status, (await reply.json()).error.param], [400, "language"]);
  });
});

describe("the language of a realtime session", () => {
  const session = (output: object, settings = defaultSettings("m", { cast: KOKORO_MODEL.card, own: [] })) =>
    updateSettings(settings, { audio: { output } }, false);
  const speakerOf = (settings: ReturnType<typeof session>) => {
    const response = { responseId: "r", items: [], settings };
    const { conversation, language, voice } = prepareResponse(response, null, 0, resolve);
    return [conversation.open.speaker, language, voice];
  };

  test("gives OpenAI's names people who speak it", () => {
    assert.deepEqual(speakerOf(session({ language: "es" })), ["0", "es", undefined]);
    assert.deepEqual(speakerOf(session({ language: "it", voice: "echo" })), ["1", "it", undefined]);
    const [dora] = speakerOf(session({ voice: "ef_dora" })).slice(2) as [Script["voice"]];
    assert.deepEqual(dora, [{ weight: 1, id: "ef_dora" }]);
  });

  test("is refused where the voice has another, and after audio was sent", () => {
    assert.throws(() => session({ language: "es" }, session({ voice: "bella" })), {
      param: "session.audio.output.language",
    });
    assert.throws(() => session({ language: "es", voice: "bella" }), { param: "session.audio.output.voice" });
    assert.throws(() => session({ language: "fr" }), /"fr" is not spoken by/);
    const spoken = () => updateSettings(session({}), { audio: { output: { language: "es" } } }, true);
    assert.throws(spoken, { code: "cannot_update_voice", param: "session.audio.output.language" });
  });

  test("is a telephone call's, unless another voice is named", () => {
    const call = (parameters: object) => callSettings(session({}), parameters).language;
    assert.deepEqual([call({ language: "es" }), call({ language: "es", voice: "bella" })], ["es", null]);
    assert.deepEqual([call({ language: "en" }), call({ language: "fr" })], [null, null]);
  });
});

test("a Wyoming client's language chooses the voice where it names none", () => {
  const deps = { resolve } as unknown as WyomingDeps;
  for (const prepare of [prepareSynthesize, prepareSynthesizeStream]) {
    const by = (voice: object) => prepare({ text: "Hola.", voice }, deps);
    const tags = ["es_ES", "en_GB"].map((language) => by({ language }).language);
    assert.deepEqual(tags, ["es", undefined]);
    assert.deepEqual(by({ name: "sara", language: "es" }).voice, [{ weight: 1, id: "if_sara" }]);
    assert.throws(() => by({ language: "fr" }), /language "fr" is not spoken/);
  }
});
