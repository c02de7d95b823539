import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { OpenAI } from "openai";
import { encodeWav } from "../../../src/audio/encode-wav.ts";
import { RecogniserError } from "../../../src/core/recogniser.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { ToneRecogniser, toneSpeech } from "../../recognition/tone-recogniser.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { type Parts, TRANSLATIONS, translate, WAV } from "./transcription-form.ts";

const TEXT = "One way & another. Two --> <three>.";

let server: TestServer;
let recogniser: ScriptedRecogniser;
before(async () => {
  recogniser = new ScriptedRecogniser();
  server = await startTestServer({ recogniser });
});
after(() => server.stop());
beforeEach(() => {
  recogniser.asked.length = 0;
  recogniser.canTranslate = true;
  recogniser.fail(null);
});

async function refused(parts: Parts, status: number, message: RegExp): Promise<void> {
  const reply = await translate(server, parts);
  const { error } = await reply.json();
  assert.equal(reply.status, status, error?.message);
  assert.match(error.message, message);
}

describe("a translation", () => {
  test("is asked of the recogniser, and metered as a transcript is", async () => {
    const before = await (await server.get("/v1/usage")).json();
    const reply = await translate(server, { prompt: "Ways.", language: "de" });
    assert.deepEqual(await reply.json(), {
      text: TEXT,
      languages: [{ code: "de" }],
      usage: {
        type: "duration",
        seconds: 0.5,
        input_chars: 5,
        input_audio_seconds: 0.5,
        output_audio_seconds: 0,
      },
    });
    const usage = await (await server.get("/v1/usage")).json();
    assert.equal(usage.requests, before.requests + 1);
    assert.equal(usage.input_audio_seconds, before.input_audio_seconds + 0.5);
    assert.equal(usage.input_chars, before.input_chars + 5);
    const { task, language, prompt, wantsWords } = recogniser.asked[0]!;
    assert.deepEqual([task, language, prompt, wantsWords], ["translate", "de", "Ways.", false]);
  });

  test("comes in English of what is said, from end to end", async (t) => {
    const own = await startTestServer({ recogniser: new ToneRecogniser() });
    t.after(() => own.stop());
    const { samples, sampleRateHz } = toneSpeech().clip;
    const pcm = Int16Array.from(samples, (sample) => Math.round(32_767 * sample));
    const file = new Blob([encodeWav(pcm, sampleRateHz) as Uint8Array<ArrayBuffer>]);
    const reply = await translate(own, { file, response_format: "text" });
    assert.equal(await reply.text(), "LOW MIDDLE HIGH MIDDLE LOW HIGH\n");
  });

  test("comes to OpenAI's own client, in each format", async () => {
    const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 });
    const ask = { file: new File([WAV], "a.wav"), model: "whisper-1" } as const;
    assert.equal((await openai.audio.translations.create(ask)).text, TEXT);
    // Its types take every format for JSON.
    const told: unknown = await openai.audio.translations.create({ ...ask, response_format: "verbose_json" });
    const verbose = told as OpenAI.Audio.TranslationVerbose;
    assert.deepEqual([verbose.language, verbose.duration, verbose.text], ["english", 0.5, TEXT]);
    assert.deepEqual(
      verbose.segments?.map(({ text, start }) => [text, start]),
      [
        ["One way & another.", 0],
        ["Two --> <three>.", 1.5],
      ],
    );
    assert.ok("task" in verbose && verbose.task === "translate");
    assert.ok(!("words" in verbose));
    const plain = async (response_format: "text" | "srt" | "vtt"): Promise<unknown> =>
      await openai.audio.translations.create({ ...ask, response_format });
    assert.equal(await plain("text"), `${TEXT}\n`);
    assert.match(String(await plain("srt")), /^1\n00:00:00,000 --> 00:00:00,800\nOne way & another\.\n\n2\n/);
    assert.match(String(await plain("vtt")), /^WEBVTT\n\n/);
  });

  test("takes the language as a hint, which cannot be wrong", async () => {
    for (const [sent, asked] of [
      ["de", "de"],
      ["pt-BR", "pt"],
      ["German", "de"],
      ["klingon", null],
      ["", null],
      ["en-GB", null],
    ] as const) {
      assert.equal((await translate(server, { language: sent })).status, 200);
      assert.equal(recogniser.asked.at(-1)!.language, asked, sent);
    }
  });

  test("is refused by name where it is asked for what only a transcript has", async () => {
    const times = { response_format: "verbose_json", "timestamp_granularities[]": "segment" };
    await refused(
      times,
      400,
      /^timestamp_granularities is not taken here, a translation's words are said at no time/,
    );
    await refused({ stream: "true" }, 400, /^stream is not taken here, a translation comes in one piece/);
    await refused(
      { "keywords[]": "tea" },
      422,
      /^"keywords\[\]" is not a field of this form: leave it out; there are file, model, prompt, response_format, temperature, language$/,
    );
    await refused({ response_format: "docx" }, 400, /^response_format "docx" is not made here/);
    await refused({ model: "whisper-9" }, 400, /^model "whisper-9" is unknown/);
    await refused({ temperature: "2" }, 422, /^temperature must be at most 1$/);
    const get = await server.get(TRANSLATIONS);
    assert.deepEqual([get.status, get.headers.get("allow")], [405, "POST"]);
    assert.equal(recogniser.asked.length, 0);
  });

  test("is refused where the recogniser cannot, known before or found out, and says what to do", async () => {
    const remedy = /^the recogniser cannot translate: ask \/v1\/audio\/transcriptions for what is said/;
    recogniser.fail(new RecogniserError("It does not translate.", { refused: "task" }));
    await refused({}, 400, remedy);
    assert.equal(recogniser.asked.length, 1);
    recogniser.canTranslate = false;
    // Before the recording is read.
    await refused({ file: "words" }, 400, remedy);
    assert.equal(recogniser.asked.length, 1);
  });
});
