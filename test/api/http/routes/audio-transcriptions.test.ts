import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { OpenAI } from "openai";
import { encodeWav } from "../../../../src/audio/encode-wav.ts";
import { RecogniserError } from "../../../../src/core/recogniser.ts";
import { ScriptedRecogniser } from "../../../recognition/scripted-recogniser.ts";
import { ToneRecogniser, toneSpeech } from "../../../recognition/tone-recogniser.ts";
import { type Parts, TRANSLATIONS, transcribe, translate, WAV } from "../forms.ts";
import { startForTest, startTestServer, type TestServer } from "../start.ts";
import type { Reply } from "../wire.ts";

const TEXT = "One way & another. Two --> <three>.";

let server: TestServer;
let recogniser: ScriptedRecogniser;
let openai: OpenAI;
before(async () => {
  recogniser = new ScriptedRecogniser();
  server = await startTestServer({ recogniser });
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 });
});
after(() => server.stop());
beforeEach(() => {
  recogniser.asked.length = 0;
  recogniser.clips.length = 0;
  recogniser.canTranslate = true;
  recogniser.fail(null);
});

const file = () => new File([WAV], "a.wav");

/** Checks a reply's text, language and usage, and what was metered for it. */
async function isMetered(send: () => Promise<Reply>, code: string): Promise<void> {
  const before = await server.usage();
  const reply = await send();
  assert.equal(reply.status, 200);
  const own = { input_chars: 5, input_audio_seconds: 0.5, output_audio_seconds: 0 };
  const expected = { text: TEXT, languages: [{ code }], usage: { type: "duration", seconds: 0.5, ...own } };
  assert.deepEqual(await reply.json(), expected);
  const after = await server.usage();
  assert.equal(after.requests, before.requests + 1);
  assert.equal(after.input_audio_seconds, before.input_audio_seconds + 0.5);
  assert.equal(after.input_chars, before.input_chars + 5);
}

describe("POST /v1/audio/transcriptions", () => {
  test("returns JSON with its usage, and is metered", async () => {
    await isMetered(async () => {
      const reply = await transcribe(server, { prompt: "Ways." });
      assert.equal(reply.headers.get("content-type"), "application/json; charset=utf-8");
      for (const name of ["x-request-id", "x-ratelimit-remaining"]) assert.ok(reply.headers.get(name));
      return reply;
    }, "en");
    const { sampleRateHz, samples, durationS } = recogniser.clips[0]!;
    assert.deepEqual([sampleRateHz, samples.length, durationS], [16_000, 8_000, 0.5]);
    const asked = { task: "transcribe", language: null, prompt: "Ways.", wantsWords: false, draft: null };
    assert.deepEqual(recogniser.asked, [{ ...asked, traceHeaders: {} }]);
  });

  test("is steered by languages and keywords", async () => {
    const ask = async (parts: Parts) => {
      const reply = await transcribe(server, { model: "gpt-transcribe", ...parts });
      const { languages, usage } = await reply.json();
      const { language, prompt } = recogniser.asked.at(-1)!;
      return { language, prompt, languages, chars: usage.input_chars };
    };
    const german = await ask({ "languages[]": "de" });
    assert.deepEqual(german, { language: "de", prompt: null, languages: [{ code: "de" }], chars: 0 });
    assert.equal((await ask({ "languages[]": ["de", "de"] })).language, "de");
    assert.equal((await ask({ "languages[]": ["de", "fr"] })).language, null);
    assert.equal((await ask({ "keywords[]": ["Geneva", "Lac Léman"] })).prompt, "Geneva, Lac Léman");
    const both = await ask({ prompt: "At the lake.", "keywords[]": "Geneva" });
    assert.equal(both.prompt, "At the lake.\nGeneva");
    assert.equal(both.chars, both.prompt?.length);
    assert.equal((await ask({ "keywords[]": [" ", ""] })).prompt, null);
  });

  test("returns no language when the recogniser finds none", async (t) => {
    const unsure = new ScriptedRecogniser();
    const recognise = unsure.recognise.bind(unsure);
    unsure.recognise = async (...asked) => ({ ...(await recognise(...asked)), language: null });
    const own = await startForTest(t, { recogniser: unsure });
    assert.deepEqual((await (await transcribe(own, {})).json()).languages, []);
  });

  test("takes timestamp_granularities in every format, as the AI SDK sends it", async () => {
    for (const response_format of ["json", "text", "srt", "vtt", "verbose_json"]) {
      const reply = await transcribe(server, { response_format, "timestamp_granularities[]": "segment" });
      assert.equal(reply.status, 200, response_format);
      await reply.arrayBuffer();
    }
  });

  test("returns each format to OpenAI's client", async () => {
    const ask = (response_format: "json" | "text" | "srt" | "vtt"): Promise<unknown> =>
      openai.audio.transcriptions.create({ file: file(), model: "gpt-4o-transcribe", response_format });
    assert.equal(((await ask("json")) as { text: string }).text, TEXT);
    assert.equal(await ask("text"), `${TEXT}\n`);
    assert.equal(
      await ask("srt"),
      "1\n00:00:00,000 --> 00:00:00,800\nOne way & another.\n\n" +
        "2\n00:00:01,500 --> 00:00:02,100\nTwo --> <three>.\n\n",
    );
    assert.equal(
      await ask("vtt"),
      "WEBVTT\n\n00:00:00.000 --> 00:00:00.800\nOne way &amp; another.\n\n" +
        "00:00:01.500 --> 00:00:02.100\nTwo --&gt; &lt;three&gt;.\n\n",
    );
  });

  test("returns times of segments, of words, or of both to OpenAI's client", async () => {
    const ask = (granularities?: ("word" | "segment")[]) =>
      openai.audio.transcriptions.create({
        file: file(),
        model: "whisper-1",
        response_format: "verbose_json",
        language: "de",
        ...(granularities && { timestamp_granularities: granularities }),
      });
    const plain = await ask();
    assert.deepEqual([plain.language, plain.duration, plain.words], ["german", 0.5, undefined]);
    const [first, second] = plain.segments!;
    const { compression_ratio: ratio, ...rest } = second!;
    assert.ok(ratio > 0.2 && ratio < 1.5, `${ratio}`);
    assert.deepEqual(rest, {
      id: 1,
      seek: 150,
      start: 1.5,
      end: 2.1,
      text: "Two --> <three>.",
      tokens: [],
      temperature: 0,
      avg_logprob: -0.25,
      no_speech_prob: 0.25,
    });
    assert.equal(first?.id, 0);
    const words = await ask(["word"]);
    assert.equal(words.segments, undefined);
    assert.deepEqual(words.words?.[1], { word: "way", start: 0.2, end: 0.4 });
    const both = await ask(["word", "segment"]);
    assert.deepEqual([both.words?.length, both.segments?.length], [7, 2]);
    assert.deepEqual(
      recogniser.asked.map(({ wantsWords }) => wantsWords),
      [false, true, true],
    );
  });

  test("streams events to OpenAI's client that join to the text", async () => {
    const stream = await openai.audio.transcriptions.create({
      file: file(),
      model: "gpt-4o-mini-transcribe",
      stream: true,
    });
    let joined = "";
    let last: unknown;
    for await (const event of stream) {
      if (event.type === "transcript.text.delta") joined += event.delta;
      last = event;
    }
    assert.equal(joined, TEXT);
    assert.deepEqual(last, {
      type: "transcript.text.done",
      text: TEXT,
      usage: {
        type: "tokens",
        input_tokens: 7,
        input_token_details: { audio_tokens: 7, text_tokens: 0 },
        output_tokens: TEXT.length,
        total_tokens: 7 + TEXT.length,
        input_chars: 0,
        input_audio_seconds: 0.5,
        output_audio_seconds: 0,
      },
    });
  });
});

describe("POST /v1/audio/translations", () => {
  async function refused(parts: Parts, status: number, message: RegExp): Promise<void> {
    const reply = await translate(server, parts);
    const { error } = await reply.json();
    assert.equal(reply.status, status, error?.message);
    assert.match(error.message, message);
  }

  test("asks the recogniser for a translation, and is metered", async () => {
    await isMetered(() => translate(server, { prompt: "Ways.", language: "de" }), "de");
    const { task, language, prompt, wantsWords } = recogniser.asked[0]!;
    assert.deepEqual([task, language, prompt, wantsWords], ["translate", "de", "Ways.", false]);
  });

  test("returns the recogniser's translation of a recording", async (t) => {
    const own = await startForTest(t, { recogniser: new ToneRecogniser() });
    const { samples, sampleRateHz } = toneSpeech().clip;
    const pcm = Int16Array.from(samples, (sample) => Math.round(32_767 * sample));
    const wav = encodeWav(pcm, sampleRateHz) as Uint8Array<ArrayBuffer>;
    const reply = await translate(own, { file: new Blob([wav]), response_format: "text" });
    assert.equal(await reply.text(), "LOW MIDDLE HIGH MIDDLE LOW HIGH\n");
  });

  test("returns each format to OpenAI's client", async () => {
    const ask = (response_format: "json" | "text" | "srt" | "vtt" | "verbose_json"): Promise<unknown> =>
      openai.audio.translations.create({ file: file(), model: "whisper-1", response_format });
    assert.equal(((await ask("json")) as { text: string }).text, TEXT);
    const verbose = (await ask("verbose_json")) as OpenAI.Audio.TranslationVerbose;
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
    assert.equal(await ask("text"), `${TEXT}\n`);
    assert.match(`${await ask("srt")}`, /^1\n00:00:00,000 --> 00:00:00,800\nOne way & another\.\n\n2\n/);
    assert.match(`${await ask("vtt")}`, /^WEBVTT\n\n/);
  });

  test("takes the language as a hint that cannot be wrong", async () => {
    const languages = { de: "de", "pt-BR": "pt", German: "de", klingon: null, "": null, "en-GB": null };
    for (const [sent, language] of Object.entries(languages)) {
      assert.equal((await translate(server, { language: sent })).status, 200);
      assert.equal(recogniser.asked.at(-1)!.language, language, sent);
    }
  });

  test("returns 400 or 422 for fields that only transcription has", async () => {
    const unknown =
      /^"keywords\[\]" is not a field of this form: leave it out; there are file, model, prompt, response_format, temperature, language$/;
    const times = /^timestamp_granularities is not taken here, a translation's words are said at no time/;
    for (const [parts, status, message] of [
      [{ response_format: "verbose_json", "timestamp_granularities[]": "segment" }, 400, times],
      [{ stream: "true" }, 400, /^stream is not taken here, a translation comes in one piece/],
      [{ "keywords[]": "tea" }, 422, unknown],
      [{ response_format: "docx" }, 400, /^response_format "docx" is not made here/],
      [{ model: "whisper-9" }, 400, /^model "whisper-9" is unknown/],
      [{ temperature: "2" }, 422, /^temperature must be at most 1$/],
    ] as const)
      await refused(parts, status, message);
    const get = await server.get(TRANSLATIONS);
    assert.deepEqual([get.status, get.headers.get("allow")], [405, "POST"]);
    assert.equal(recogniser.asked.length, 0);
  });

  test("returns 400 when the recogniser cannot translate", async () => {
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
