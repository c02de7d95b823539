import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { clipSource } from "../../src/core/audio-source.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  type Transcript,
} from "../../src/core/recogniser.ts";
import {
  type EndpointRecogniserOptions,
  openEndpointRecogniser,
} from "../../src/recognition/endpoint-recogniser.ts";
import { startTestServer } from "../api/http/start.ts";
import { until } from "../waiting.ts";
import { clipOf } from "./clips.ts";
import { PLAIN, recogniserConformance } from "./conformance.ts";
import { ScriptedRecogniser } from "./scripted-recogniser.ts";
import { ToneRecogniser, toneSpeech } from "./tone-recogniser.ts";
import { type Answer, json, refusal, TranscriptionServer, UPSTREAM_SECRET } from "./transcription-server.ts";

const CLIP = clipOf(1, (_, at) => 0.5 * Math.sin(at / 9), 24_000);
const NEVER = new AbortController().signal;
const KEY = "key-of-the-endpoint";

let server: TranscriptionServer;
before(async () => {
  server = await TranscriptionServer.open();
});
after(() => server.close());

function opened(options: Partial<EndpointRecogniserOptions> = {}) {
  return openEndpointRecogniser({
    baseUrl: server.baseUrl,
    model: "some-whisper",
    apiKey: KEY,
    totalTimeoutMs: 20_000,
    retryDelaysMs: [1, 1],
    ...options,
  });
}

function recognise(options: Partial<RecogniseOptions> = {}, signal = NEVER): Promise<Transcript> {
  return opened().recognise(clipSource(CLIP), { ...PLAIN, ...options }, signal);
}

/** Asserts that a call fails with this message, which quotes nothing of the endpoint. */
async function fails(message: RegExp, retryAfterMs: number | null = null): Promise<void> {
  await assert.rejects(recognise(), (error: RecogniserError) => {
    assert.ok(error instanceof RecogniserError, `${error}`);
    assert.match(error.message, message);
    assert.equal(error.retryAfterMs, retryAfterMs);
    assert.ok(!`${error.stack}${error.cause}`.includes(UPSTREAM_SECRET));
    assert.ok(!`${error.stack}`.includes(KEY));
    return true;
  });
}

describe("an endpoint recogniser", () => {
  test("transcribes through another Antiphon, with words", async () => {
    const scripted = new ScriptedRecogniser();
    const other = await startTestServer({ recogniser: scripted });
    const endpoint = opened({ baseUrl: `${other.url}/v1/`, apiKey: other.key, model: "whisper-1" });
    try {
      const clip = clipOf(3, (_, at) => 0.5 * Math.sin(at / 9), 24_000);
      const options = { language: "de", prompt: "Ways.", wantsWords: true, draft: null };
      const transcript = await endpoint.recognise(clipSource(clip), options, NEVER);
      assert.equal(transcript.text, "One way & another. Two --> <three>.");
      assert.equal(transcript.language, "de");
      assert.equal(transcript.transcribedS, 3);
      assert.equal(transcript.speechProbability, 0.75);
      assert.equal(transcript.meanLogProbability, -0.25);
      assert.deepEqual(
        transcript.segments.map(({ words }) => words?.map(({ text }) => text)),
        [
          ["One", "way", "&", "another."],
          ["Two", "-->", "<three>."],
        ],
      );
      const [heard] = scripted.clips;
      assert.equal(heard?.sampleRateHz, 16_000);
      assert.equal(heard?.samples.length, 48_000);
      const { draft, traceHeaders, ...asked } = scripted.asked[0]!;
      assert.deepEqual(asked, { task: "transcribe", language: "de", prompt: "Ways.", wantsWords: true });
    } finally {
      await endpoint.close();
      await other.stop();
    }
  });

  test("transcribes the rest of a clip, with times from its start", async () => {
    const words = [{ word: "Hello.", start: 0.1, end: 0.3 }];
    server.answers(json({ text: "Hello.", segments: [{ text: "Hello.", start: 0.1, end: 0.3 }], words }));
    const parts: Transcript[] = [];
    const onPartial = (part: Transcript) => void parts.push(part);
    const transcript = await recognise({ startAtS: 0.5, wantsWords: true, onPartial });
    const [segment = assert.fail("no segment")] = transcript.segments;
    assert.deepEqual([segment.startS, segment.words?.[0]?.endS, transcript.transcribedS], [0.6, 0.8, 1]);
    assert.deepEqual(parts, [transcript]);
    // Half a second of 16 bits at 16 kHz.
    const sent = server.asked[0]!.form.length;
    assert.ok(sent > 16_000 && sent < 18_000, `${sent} bytes`);
  });

  test("tells whether the language or the length was refused", async () => {
    const refused = async (
      status: number,
      said: string,
      language: string | null,
    ): Promise<RecogniserError["refused"]> => {
      server.answers(refusal(status, said));
      const error = await recognise({ language }).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof RecogniserError && !error.message.includes(UPSTREAM_SECRET));
      return error.refused;
    };
    assert.equal(await refused(400, "Invalid language 'xx'", "xx"), "language");
    assert.equal(await refused(400, "Invalid language 'xx'", null), null);
    assert.equal(await refused(413, "", null), "length");
    assert.equal(await refused(413, "", "en"), "length");
    assert.equal(await refused(401, "", "xx"), null);
  });

  test("requests translations from their own route, with its fields only", async () => {
    server.answers(
      json({ text: "Hello.", language: "english", segments: [{ text: "Hello.", start: 0, end: 1 }] }),
    );
    const options = { task: "translate", language: "de", prompt: "A greeting.", wantsWords: true } as const;
    const { text, language, segments } = await recognise(options);
    assert.deepEqual([text, language, segments[0]?.words], ["Hello.", null, null]);
    const [{ request, form } = assert.fail("no request")] = server.asked;
    assert.equal(request.url, "/v1/audio/translations");
    assert.match(form, /name="prompt"\r\n\r\nA greeting\.\r\n/);
    assert.match(form, /name="response_format"\r\n\r\nverbose_json\r\n/);
    assert.doesNotMatch(form, /name="(?:language|timestamp_granularities)/);
  });

  test("rejects a translation at once where the endpoint has no route or model for it", async () => {
    const failure = async (task: "transcribe" | "translate"): Promise<RecogniserError> => {
      const error = await recognise({ task }).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof RecogniserError && !error.message.includes(UPSTREAM_SECRET));
      assert.equal(server.asked.length, 1);
      return error;
    };
    for (const [status, said] of [
      [404, ""],
      [405, ""],
      [501, ""],
      [400, "The model does not support Translations"],
    ] as const) {
      server.answers(refusal(status, said));
      const { refused, message } = await failure("translate");
      assert.equal(refused, "task", `${status}`);
      assert.match(message, /does not translate \(\d{3}\)\. Ask for a transcription instead\.$/);
    }
    server.answers(refusal(400, "unknown field: translate_to"));
    assert.equal((await failure("translate")).refused, null);
    server.answers(refusal(404));
    assert.equal((await failure("transcribe")).refused, null);
  });

  test("remembers refused fields for each route", async () => {
    const recogniser = opened();
    server.answers(
      refusal(400, "response_format 'verbose_json' is not compatible"),
      json({ text: "Hello." }),
    );
    await recogniser.recognise(clipSource(CLIP), { ...PLAIN, task: "translate" }, NEVER);
    await recogniser.recognise(clipSource(CLIP), PLAIN, NEVER);
    const formats = server.asked.map(({ form }) => /response_format"\r\n\r\n(\w+)/.exec(form)?.[1]);
    assert.deepEqual(formats, ["verbose_json", "json", "verbose_json"]);
  });

  test("sends 16-bit WAV at 16 kHz, and the key in its header only", async () => {
    server.answers(json({ text: " Hello. " }));
    const transcript = await recognise();
    const [{ request, form } = assert.fail("no request")] = server.asked;
    assert.equal(request.headers.authorization, `Bearer ${KEY}`);
    assert.equal(form.includes(KEY), false);
    assert.match(form, /name="file"; filename="speech.wav"\r\nContent-Type: audio\/wav\r\n\r\nRIFF/);
    assert.match(form, /name="model"\r\n\r\nsome-whisper\r\n/);
    assert.match(form, /name="response_format"\r\n\r\nverbose_json\r\n/);
    assert.doesNotMatch(form, /name="(?:language|prompt)"|\r\nword\r\n/);
    const wav = Buffer.from(form.slice(form.indexOf("RIFF")), "latin1");
    assert.equal(wav.readUInt32LE(24), 16_000);
    assert.equal(wav.readUInt32LE(40), 32_000);
    assert.deepEqual(transcript.segments, [
      { startS: 0, endS: 1, text: "Hello.", words: null, meanLogProbability: null },
    ]);
    assert.equal(transcript.text, "Hello.");
    assert.equal(transcript.language, null);
  });

  test("sends at least 0.1 s, since some endpoints refuse less", async () => {
    server.answers(json({ text: "" }));
    for (const count of [0, 1]) {
      const clip = { ...CLIP, samples: CLIP.samples.slice(0, count), durationS: count / 24_000 };
      assert.equal((await opened().recognise(clipSource(clip), PLAIN, NEVER)).transcribedS, clip.durationS);
      const { form } = server.asked.at(-1)!;
      assert.equal(Buffer.from(form.slice(form.indexOf("RIFF")), "latin1").readUInt32LE(40), 3_200);
    }
  });

  test("drops fields that the endpoint refuses by name, and remembers", async () => {
    server.answers(
      refusal(400, "timestamp_granularities is not supported"),
      refusal(400, "response_format 'verbose_json' is not compatible"),
      json({ text: "Hello." }),
    );
    const recogniser = opened();
    const options = { ...PLAIN, wantsWords: true };
    const { segments } = await recogniser.recognise(clipSource(CLIP), options, NEVER);
    assert.deepEqual(segments[0]?.words, []);
    await recogniser.recognise(clipSource(CLIP), options, NEVER);
    const formats = server.asked.map(({ form }) => [
      /response_format"\r\n\r\n(\w+)/.exec(form)?.[1],
      form.includes("granularities"),
    ]);
    assert.deepEqual(formats, [
      ["verbose_json", true],
      ["verbose_json", false],
      ["json", false],
      ["json", false],
    ]);
  });

  test("clamps times to the clip, and drops segments without speech", async () => {
    server.answers(
      json({
        text: "ignored where there are segments",
        language: "English",
        segments: [
          { start: -3, end: 99, text: " One two. ", avg_logprob: 0.5, no_speech_prob: 0.1 },
          { start: "x", end: null, text: 5 },
          null,
          { start: 0.5, end: 0.2, text: "Three." },
          { start: 0, end: 1, text: "Thank you.", avg_logprob: -1.5, no_speech_prob: 0.9 },
        ],
        words: [
          { word: " One", start: 0, end: 0.1 },
          { word: "", start: 0 },
          { word: "Three.", start: 0.6, end: 7 },
          3,
        ],
      }),
    );
    const { text, segments, language, speechProbability } = await recognise({ wantsWords: true });
    assert.equal(text, "One two. Three.");
    assert.equal(language, "en");
    assert.equal(speechProbability, 0.9);
    assert.deepEqual(
      segments.map(({ startS, endS, meanLogProbability, words }) => [
        startS,
        endS,
        meanLogProbability,
        words?.length,
      ]),
      [
        [0, 1, 0, 1],
        [0.5, 0.5, null, 1],
      ],
    );
    assert.equal(segments[1]?.words?.[0]?.endS, 1);
    server.answers(json({ text: "", segments: [], language: "klingon" }));
    const silent = await recognise();
    assert.deepEqual([silent.text, silent.segments, silent.language], ["", [], null]);
  });

  test("reports the endpoint's fault without quoting it", async () => {
    const noTranscript = /answered with something that is no transcript\. Check recogniser\.baseUrl/;
    for (const body of ["<html>", "[]", "{}", { text: 5 }, { text: "x".repeat(5_000) }, "null"]) {
      server.answers(json(body));
      await fails(noTranscript);
    }
    const refusals: [number, RegExp][] = [
      [401, /refused the key \(401\)\. Check ANTIPHON_RECOGNISER_API_KEY/],
      [403, /does not let this key use the model/],
      [404, /no such route or model \(404\)/],
      [413, /too long for the recogniser's endpoint/],
      [400, /refused the request \(400\)\. Check recogniser\.model/],
      [307, /redirects \(307\), which is not followed/],
    ];
    for (const [status, message] of refusals) {
      server.answers(refusal(status, "", { location: "http://127.0.0.1:1/" }));
      await fails(message);
      assert.equal(server.asked.length, 1);
    }
  });

  test("retries temporary failures, as late as the endpoint asks", async () => {
    server.answers(refusal(500), refusal(429, "", { "retry-after-ms": "2" }), json({ text: "Hello." }));
    assert.equal((await recognise()).text, "Hello.");
    server.answers(({ request }) => request.socket.destroy(), json({ text: "Hello." }));
    assert.equal((await recognise()).text, "Hello.");
    server.answers(refusal(503));
    await fails(/endpoint failed \(503\)\. Retry in a moment\.$/, 2_000);
    assert.equal(server.asked.length, 3);
    server.answers(refusal(429, "", { "retry-after": "70" }));
    await fails(/busy or its quota is used up/, 70_000);
    assert.equal(server.asked.length, 1);
  });

  test("reports an unreachable or invalid address", async () => {
    const gone = await TranscriptionServer.open();
    await gone.close();
    const dead = opened({ baseUrl: gone.baseUrl });
    await assert.rejects(dead.recognise(clipSource(CLIP), PLAIN, NEVER), {
      name: "RecogniserError",
      message: /cannot be reached/,
    });
    for (const baseUrl of ["localhost", "ftp://a/v1", "http://a:secret@b/v1"])
      assert.throws(
        () => opened({ baseUrl }),
        (error: Error) => error instanceof RecogniserError && !error.message.includes("secret"),
      );
  });

  test("limits the time of the whole answer", async () => {
    server.answers(({ response }) => {
      response.writeHead(200, { "content-type": "application/json" }).write('{"text":');
    });
    const slow = opened({ totalTimeoutMs: 150 });
    await assert.rejects(slow.recognise(clipSource(CLIP), PLAIN, NEVER), {
      name: "RecogniserError",
      message: /took longer over a recording than recogniser\.totalTimeoutMs \(150 ms\)/,
    });
  });

  test("ends the request on an abort and on close", async () => {
    server.answers(() => {});
    const leaving = new AbortController();
    const reason = new Error("it left");
    const aborted = recognise({}, leaving.signal);
    await until("the request", () => server.asked.length === 1);
    leaving.abort(reason);
    await assert.rejects(aborted, reason);
    await until("the end", () => server.asked[0]!.response.destroyed);
    const recogniser = opened();
    const closing = recogniser.recognise(clipSource(CLIP), PLAIN, NEVER);
    await until("the request", () => server.asked.length === 2);
    await recogniser.close();
    await assert.rejects(closing, { message: /The recogniser is closed/ });
    await assert.rejects(recogniser.recognise(clipSource(CLIP), PLAIN, NEVER), {
      message: /The recogniser is closed/,
    });
    await assert.rejects(recognise({}, AbortSignal.abort(reason)), reason);
  });
});

const antiphon = await startTestServer({ recogniser: new ToneRecogniser() });
const wrongServers: TranscriptionServer[] = [];
after(async () => {
  await Promise.all([antiphon.stop(), ...wrongServers.map((server) => server.close())]);
});

function behind(baseUrl: string, apiKey: string, totalTimeoutMs: number): Recogniser {
  return openEndpointRecogniser({ baseUrl, model: "whisper-1", apiKey, totalTimeoutMs, retryDelaysMs: [1] });
}

/** Opens a recogniser whose endpoint always sends this answer. */
async function wrong(answer: Answer, totalTimeoutMs = 20_000): Promise<Recogniser> {
  const server = await TranscriptionServer.open();
  wrongServers.push(server);
  server.answers(answer);
  return behind(server.baseUrl, "key", totalTimeoutMs);
}

recogniserConformance(
  "an endpoint recogniser of another Antiphon",
  async () => behind(`${antiphon.url}/v1`, antiphon.key, 60_000),
  {
    // OpenAI's API has no drafts, answers in one piece, and reports the probability of speech for segments only.
    lacks: ["takesDrafts", "weighsSilence"],
    speech: async () => toneSpeech(),
    broken: {
      "a refused key": async () => behind(`${antiphon.url}/v1`, "ant_wrong", 20_000),
      "status 500": () => wrong(refusal(500)),
      "status 400": () => wrong(refusal(400, "no such thing")),
      "a page instead of a transcript": () => wrong(json("<html>")),
      "a reset connection": () => wrong(({ request }) => request.socket.destroy()),
      "a truncated answer": () =>
        wrong(({ response }) => {
          response.writeHead(200, { "content-length": 100 }).write('{"text":', () => response.destroy());
        }),
      "no answer": () => wrong(() => {}, 100),
    },
  },
);
