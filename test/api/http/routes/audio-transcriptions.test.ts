import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { OpenAI } from "openai";
import { ScriptedRecogniser } from "../../../recognition/scripted-recogniser.ts";
import { startTestServer, type TestServer } from "../start.ts";
import { type Parts, transcribe, WAV } from "../transcription-form.ts";

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
});

function file(): File {
  return new File([WAV], "a.wav");
}

describe("a transcript", () => {
  test("comes as JSON with what it is billed for, and is metered", async () => {
    const before = await (await server.get("/v1/usage")).json();
    const reply = await transcribe(server, { prompt: "Ways." });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("content-type"), "application/json; charset=utf-8");
    assert.ok(reply.headers.get("x-request-id"));
    assert.ok(reply.headers.get("x-ratelimit-remaining"));
    assert.deepEqual(await reply.json(), {
      text: TEXT,
      languages: [{ code: "en" }],
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
    const [clip] = recogniser.clips;
    assert.equal(clip?.sampleRateHz, 16_000);
    assert.equal(clip?.samples.length, 8_000);
    assert.equal(clip?.durationS, 0.5);
    const asked = { task: "transcribe", language: null, prompt: "Ways.", wantsWords: false, draft: null };
    assert.deepEqual(recogniser.asked, [{ ...asked, traceHeaders: {} }]);
  });

  test("is steered by languages and keywords, as newer clients of OpenAI's API name them", async () => {
    const ask = async (parts: Parts) => {
      const reply = await transcribe(server, { model: "gpt-transcribe", ...parts });
      const { languages: told, usage } = await reply.json();
      const { language, prompt } = recogniser.asked.at(-1)!;
      return { language, prompt, told, chars: usage.input_chars };
    };
    const told = [{ code: "de" }];
    const german = await ask({ "languages[]": "de" });
    assert.deepEqual(german, { language: "de", prompt: null, told, chars: 0 });
    assert.equal((await ask({ "languages[]": ["de", "de"] })).language, "de");
    assert.equal((await ask({ "languages[]": ["de", "fr"] })).language, null);
    assert.equal((await ask({ "keywords[]": ["Geneva", "Lac Léman"] })).prompt, "Geneva, Lac Léman");
    const both = await ask({ prompt: "At the lake.", "keywords[]": "Geneva" });
    assert.equal(both.prompt, "At the lake.\nGeneva");
    assert.equal(both.chars, both.prompt?.length);
    assert.equal((await ask({ "keywords[]": [" ", ""] })).prompt, null);
  });

  test("names no language that nobody knows", async (t) => {
    const unsure = new ScriptedRecogniser();
    const recognise = unsure.recognise.bind(unsure);
    unsure.recognise = async (...asked) => ({ ...(await recognise(...asked)), language: null });
    const own = await startTestServer({ recogniser: unsure });
    t.after(() => own.stop());
    assert.deepEqual((await (await transcribe(own, {})).json()).languages, []);
  });

  test("may be asked for with the times of segments in every format, as the AI SDK does", async () => {
    for (const format of ["json", "text", "srt", "vtt", "verbose_json"]) {
      const reply = await transcribe(server, {
        response_format: format,
        "timestamp_granularities[]": "segment",
      });
      assert.equal(reply.status, 200, format);
      await reply.arrayBuffer();
    }
  });

  test("comes to OpenAI's own client, in each format", async () => {
    const model = "gpt-4o-transcribe";
    assert.equal((await openai.audio.transcriptions.create({ file: file(), model })).text, TEXT);
    const text = await openai.audio.transcriptions.create({ file: file(), model, response_format: "text" });
    assert.equal(text, `${TEXT}\n`);
    const srt = await openai.audio.transcriptions.create({ file: file(), model, response_format: "srt" });
    assert.equal(
      srt,
      "1\n00:00:00,000 --> 00:00:00,800\nOne way & another.\n\n" +
        "2\n00:00:01,500 --> 00:00:02,100\nTwo --> <three>.\n\n",
    );
    const vtt = await openai.audio.transcriptions.create({ file: file(), model, response_format: "vtt" });
    assert.equal(
      vtt,
      "WEBVTT\n\n00:00:00.000 --> 00:00:00.800\nOne way &amp; another.\n\n" +
        "00:00:01.500 --> 00:00:02.100\nTwo --&gt; &lt;three&gt;.\n\n",
    );
  });

  test("tells OpenAI's client the times of segments, of words, or of both", async () => {
    const ask = (granularities?: ("word" | "segment")[]) =>
      openai.audio.transcriptions.create({
        file: file(),
        model: "whisper-1",
        response_format: "verbose_json",
        language: "de",
        ...(granularities && { timestamp_granularities: granularities }),
      });
    const plain = await ask();
    assert.equal(plain.language, "german");
    assert.equal(plain.duration, 0.5);
    assert.equal(plain.words, undefined);
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
    assert.equal(both.words?.length, 7);
    assert.equal(both.segments?.length, 2);
    assert.deepEqual(
      recogniser.asked.map(({ wantsWords }) => wantsWords),
      [false, true, true],
    );
  });

  test("comes to OpenAI's client as events, which joined are its text", async () => {
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
