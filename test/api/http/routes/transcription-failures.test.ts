import assert from "node:assert/strict";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import { encodeWav } from "../../../../src/audio/encode-wav.ts";
import { RecogniserError } from "../../../../src/core/recogniser.ts";
import { ClientGoneError } from "../../../../src/requests/request-context.ts";
import { LONG_FILES } from "../../../audio/recordings/bombs.ts";
import { goldenRecording } from "../../../audio/recordings/golden-recordings.ts";
import { ScriptedRecogniser } from "../../../recognition/scripted-recogniser.ts";
import { until } from "../../../waiting.ts";
import { PATH, type Parts, transcribe, WAV } from "../forms.ts";
import { exchange, openRaw, rawRequest } from "../raw-socket.ts";
import { startForTest, startTestServer, type TestServer } from "../start.ts";
import type { Reply } from "../wire.ts";

const recogniser = new ScriptedRecogniser();
const server = await startTestServer({ recogniser });
after(async () => {
  assert.equal((await server.usage()).requests, 0, "a refusal is not metered");
  await server.stop();
});

async function isRefused(reply: Reply, status: number, message: RegExp): Promise<void> {
  const { error } = await reply.json();
  assert.equal(reply.status, status, error?.message);
  assert.match(error.message, message);
  assert.equal(error.request_id, reply.headers.get("x-request-id"));
  assert.ok(reply.headers.get("x-ratelimit-limit"));
}

async function refused(parts: Parts, status: number, message: RegExp): Promise<void> {
  await isRefused(await transcribe(server, parts), status, message);
}

/** Posts a body as it is. */
function raw(body: string | null, type: string | null): Promise<Reply> {
  const headers: Record<string, string> = { "X-API-Key": server.key };
  if (type !== null) headers["Content-Type"] = type;
  return fetch(server.url + PATH, {
    method: "POST",
    headers,
    body: body === null ? null : Buffer.from(body),
  });
}

type Cases = readonly (readonly [parts: Parts, status: number, message: RegExp])[];

describe("A transcription returns 400 or 422", () => {
  const file = (bytes: Uint8Array<ArrayBuffer>) => ({ file: new Blob([bytes]) });

  const FIELDS: Cases = [
    [{ file: undefined }, 422, /^file is missing: send the recording as a file/],
    [{ file: [new Blob([WAV]), new Blob([WAV])] }, 422, /^file is there more than once/],
    [{ model: new Blob(["whisper-1"]) }, 422, /^model is sent as a file: send it as text/],
    [{ model: ["whisper-1", "whisper-1"] }, 422, /^model is there more than once/],
    [{ audio: new Blob([WAV]), file: undefined }, 422, /^audio is sent as a file/],
    [{ langauge: "en" }, 422, /^"langauge" is not a field of this form: leave it out; there are file, /],
    [{ "model[]": "whisper-1" }, 422, /^"model\[\]" is not a field/],
    [{ "include[]": "logprobs" }, 400, /^include is not taken here, token probabilities are not reported/],
    [
      { "keywords[]": Array(101).fill("tea") },
      422,
      /^keywords is there 101 times: send it 100 times at most$/,
    ],
    [{ "known_speaker_names[]": "Ann" }, 400, /^known_speaker_names is not taken here/],
  ];
  const VALUES: Cases = [
    [{ temperature: "warm" }, 422, /^temperature must be a number$/],
    [{ temperature: "1.01" }, 422, /^temperature must be at most 1$/],
    [{ temperature: "-0.1" }, 422, /^temperature must be at least 0$/],
    [{ stream: "maybe" }, 422, /^stream must be true or false$/],
    [{ prompt: "x".repeat(8_001) }, 422, /^prompt must have at most 8000 characters$/],
    [
      { prompt: "x".repeat(7_990), "keywords[]": ["a kettle", "milk"] },
      422,
      /^prompt and keywords must have at most 8000 characters$/,
    ],
    [{ prompt: "x".repeat(70_000) }, 422, /^prompt is over 65536 bytes/],
    [
      { response_format: "verbose_json", "timestamp_granularities[]": "phoneme" },
      422,
      /^timestamp_granularities\[\] must be one of segment, word$/,
    ],
    [{ model: "whisper-9" }, 400, /^model "whisper-9" is unknown: send "whisper-1" or "scripted-rec/],
    [{ model: "gpt-4o-transcribe-diarize" }, 400, /is unknown/],
    [{ response_format: "docx" }, 400, /^response_format "docx" is not made here: ask for one of "json"/],
    [{ language: "klingon" }, 400, /^language "klingon" is unknown: send its ISO 639-1 code/],
    [{ language: "en-GB" }, 400, /^language "en-GB" is unknown/],
    [{ "timestamp_granularities[]": "word" }, 400, /needs response_format "verbose_json"/],
    [{ "languages[]": ["en", "klingon"] }, 400, /^languages "klingon" is unknown: send its ISO/],
    [
      { "languages[]": "en", language: "en" },
      400,
      /^languages cannot be combined with language: send one of them/,
    ],
    [{ stream: "true", response_format: "srt" }, 400, /^stream gives text alone/],
  ];
  const BAD_AUDIO = /^file: undecodable audio: it is /.source;
  const FILES: Cases = [
    [file(new Uint8Array(0)), 400, new RegExp(`${BAD_AUDIO}empty: send a whole and undamaged file of WAV`)],
    [{ file: "anna.wav" }, 422, /^file is text and no recording: send the file itself, with curl/],
    [
      file(new TextEncoder().encode("words")),
      400,
      new RegExp(`${BAD_AUDIO}not a recording that can be read: send WAV`),
    ],
    [file(goldenRecording("mono.m4a")), 400, new RegExp(`${BAD_AUDIO}MP4 or M4A, which cannot`)],
    [file(WAV.slice(0, 500)), 400, new RegExp(`${BAD_AUDIO}cut off`)],
    [file(goldenRecording("mono.ogg").slice(0, 3_000)), 400, new RegExp(`${BAD_AUDIO}cut off`)],
    [file(new Uint8Array(25 * 2 ** 20 + 1)), 400, /^file is over the cap of 26214400 bytes/],
    [file(new Uint8Array(26 * 2 ** 20)), 400, /^the body is over the cap of 26345472/],
  ];
  for (const [what, cases] of [
    ["a missing, duplicate or unknown field, or a file in place of text", FIELDS],
    ["a value of the wrong type, out of range or without meaning", VALUES],
    ["a file that is not a recording or over the cap", FILES],
  ] as const)
    test(`for ${what}`, async () => {
      for (const [parts, status, message] of cases) await refused(parts, status, message);
    });

  test("for a recording over 1500 s", async () => {
    const long = encodeWav(new Int16Array(1_000 * 1_501), 1_000) as Uint8Array<ArrayBuffer>;
    await refused(file(long), 400, /^file is longer than 1500 s, .* send it in pieces$/);
  });

  test("for a body that is no complete form", async () => {
    const needsForm = /^the body must be a form: send it with Content-Type: multipart\/form-data/;
    const other = [
      "application/json",
      null,
      "",
      "nonsense",
      "text/plain; charset=x",
      "multipart/mixed; boundary=x",
      ";",
    ];
    for (const type of other) await isRefused(await raw("{}", type), 422, needsForm);
    await isRefused(await raw(null, null), 422, needsForm);
    await isRefused(await raw("a=b", "multipart/form-data"), 422, /^Content-Type names no boundary/);
    const field = (name: string) => `--xyz\r\nContent-Disposition: form-data; name="${name}"`;
    const many = Array.from({ length: 170 }, (_, at) => `${field(`f${at}`)}\r\n\r\n\r\n`).join("");
    for (const [body, message] of [
      ["Hello there.", /^the body is not a multipart form/],
      ["", /./],
      [`${field("file")}; filename="a.wav"\r\n\r\nRIFF`, /^the form is cut off or damaged/],
      ["--xyz--\r\n", /^(?:file is missing|the body is not a multipart form)/],
      [`${many}--xyz--\r\n`, /^the form has over 160 fields/],
    ] as const)
      await isRefused(await raw(body, "multipart/form-data; boundary=xyz"), 422, message);
  });

  test("and 401, 405 or 429 as every endpoint does", async (t) => {
    assert.equal((await transcribe(server, {}, {})).status, 401);
    const get = await server.get(PATH);
    assert.deepEqual([get.status, get.headers.get("allow")], [405, "POST"]);
    const slow = await startForTest(t, { recogniser: new ScriptedRecogniser(), rpm: 1, burst: 1 });
    assert.equal((await transcribe(slow)).status, 200);
    const limited = await transcribe(slow);
    assert.equal(limited.status, 429);
    assert.ok(limited.headers.get("retry-after"));
  });
});

describe("A transcription fails", () => {
  test("with 502 and the command to run, before its body arrives, when there is no recogniser", async (t) => {
    const deaf = await startForTest(t);
    await isRefused(await transcribe(deaf), 502, /`antiphon models pull recogniser`/);
    assert.equal((await transcribe(deaf, {}, {})).status, 401);
    const headers = { "Content-Type": "multipart/form-data; boundary=x", "Content-Length": "20000000" };
    const answer = await exchange(deaf, rawRequest(PATH, deaf.key, "", headers));
    assert.match(answer, /^HTTP\/1\.1 502 [\s\S]*\r\nRetry-After: 60\r\n[\s\S]*no recogniser is configured/i);
  });

  test("with 400 for a language that the recogniser does not know", async () => {
    recogniser.fail(new RecogniserError("It does not know the language.", { refused: "language" }));
    const remedy = /^language "cy" is not known to the recogniser: leave it out to have it detected/;
    await refused({ language: "cy" }, 400, remedy);
    await refused({ language: "cy", stream: "true" }, 400, remedy);
    await refused({}, 400, /^It does not know the language\.$/);
    recogniser.fail(null);
  });

  test("with 400 for a recording that is too long for the recogniser", async () => {
    recogniser.fail(new RecogniserError("It does not take so much.", { refused: "length" }));
    const remedy = /^file is too long for the recogniser: send it in pieces$/;
    for (const parts of [{}, { language: "en" }, { language: "en", stream: "true" }])
      await refused(parts, 400, remedy);
    recogniser.fail(null);
  });

  test("with the recogniser's message and Retry-After", async () => {
    recogniser.fail(new RecogniserError("the recogniser is resting: retry", { retryAfterMs: 1_500 }));
    const reply = await transcribe(server);
    assert.equal(reply.headers.get("retry-after-ms"), "1500");
    await isRefused(reply, 502, /^the recogniser is resting: retry$/);
    recogniser.fail(new Error("secret words in a file of mine"));
    await isRefused(await transcribe(server, { stream: "true" }), 500, /^something went wrong in the server/);
    recogniser.fail(null);
  });

  test("with an error event after the status", async () => {
    recogniser.hold();
    const reply = await transcribe(server, { stream: "true" });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("content-type"), "text/event-stream; charset=utf-8");
    recogniser.fail(new RecogniserError("the recogniser is resting: retry"));
    recogniser.release();
    const events = (await reply.text()).trim().split("\n\n");
    const { type, error } = JSON.parse(events.at(-1)!.replace("data: ", ""));
    assert.equal(type, "error");
    assert.deepEqual([error.type, error.message], ["inference_error", "the recogniser is resting: retry"]);
    recogniser.fail(null);
  });

  test("with 502 after the timeout, and stops the recogniser", async () => {
    const slow = new ScriptedRecogniser();
    slow.hold();
    const other = await startTestServer({ recogniser: slow, flags: { requestTimeoutMs: "150" } });
    await isRefused(await transcribe(other), 502, /^the recogniser took too long: retry$/);
    assert.equal(slow.stopped.length, 1);
    await other.stop();
    assert.ok(slow.isClosed);
  });
});

describe("Transcriptions", () => {
  let server: TestServer;
  let recogniser: ScriptedRecogniser;
  beforeEach(async () => {
    recogniser = new ScriptedRecogniser();
    server = await startTestServer({ recogniser, flags: { shutdownGraceMs: "200" } });
  });
  afterEach(() => server.stop());

  const metered = async () => (await server.usage()).requests;
  const left = () => server.metric(`requests_ended_total{route="${PATH}",end="left",type="none"}`);

  describe("A client that leaves a transcription", () => {
    test("frees its memory during the upload, unmetered", async () => {
      const { socket } = await openRaw(server);
      const headers = { "Content-Length": "9000000", "Content-Type": "multipart/form-data; boundary=xyz" };
      const head = '--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF';
      socket.write(rawRequest(PATH, server.key, head + "x".repeat(100_000), headers));
      const room = 9_000_000 + 2 * 128 * 1024;
      await server.metricIs("receiving_bytes", room);
      socket.destroy();
      await until("the end", async () => (await left()) === 1);
      assert.equal(await server.metric("receiving_bytes"), 0);
      assert.equal(await metered(), 0);
      assert.equal(recogniser.clips.length, 0);
    });

    for (const stream of ["false", "true"]) {
      test(`stops the recogniser, unmetered, with stream ${stream}`, async () => {
        recogniser.hold();
        const leaving = new AbortController();
        const init = { headers: { "X-API-Key": server.key }, signal: leaving.signal };
        const reply = transcribe(server, { stream }, init).then((given) => given.text());
        await until("the recogniser", () => recogniser.clips.length === 1);
        assert.equal(await server.metric("recordings_hearing"), 1);
        assert.equal(await server.metric("audio_bytes"), 0, "it is decoded while it is transcribed");
        leaving.abort();
        await assert.rejects(reply);
        await until("the end", () => recogniser.stopped.length === 1);
        assert.ok(recogniser.stopped[0] instanceof ClientGoneError);
        await until("the count", async () => (await left()) === 1);
        assert.equal(await server.metric("recordings_hearing"), 0);
        assert.equal(await metered(), 0);
      });
    }

    test("frees the memory of a recogniser that holds the recording", async (t) => {
      const holding = Object.assign(new ScriptedRecogniser(), { memoryBytesPerS: 64_000 });
      const own = await startForTest(t, { recogniser: holding });
      holding.hold();
      const leaving = new AbortController();
      const init = { headers: { "X-API-Key": own.key }, signal: leaving.signal };
      const reply = transcribe(own, {}, init);
      await until("the recogniser", () => holding.clips.length === 1);
      const { durationS } = holding.clips[0]!;
      assert.equal(await own.metric("audio_bytes"), Math.ceil(64_000 * durationS));
      leaving.abort();
      await assert.rejects(reply);
      await own.metricIs("audio_bytes", 0);
    });
  });

  describe("Simultaneous transcriptions", () => {
    test("leave other keys their memory, however long one is", async () => {
      recogniser.hold();
      const long = LONG_FILES["FLAC of one value"]();
      const first = transcribe(server, { file: new Blob([new Uint8Array(long)]) });
      await until("the long one", () => recogniser.clips.length === 1);
      const other = await server.another();
      const second = transcribe(server, {}, { headers: other.auth });
      await until("the other key's", () => recogniser.clips.length === 2);
      const clip = encodeWav(new Int16Array(30 * 24_000).fill(100), 24_000);
      const audio_wav_b64 = Buffer.from(clip).toString("base64");
      const conversation = [{ text: "Hello.", audio_wav_b64 }, { text: "Hi." }];
      const spoken = await server.post("/v1/converse", { conversation }, other.auth);
      assert.equal(spoken.status, 200);
      recogniser.release();
      for (const { status } of await Promise.all([first, second])) assert.equal(status, 200);
      assert.ok(Math.abs(recogniser.clips[0]!.durationS - 1_500) < 0.1);
    });

    test("run one per key, so no key waits for another", async () => {
      recogniser.hold();
      const other = await server.another();
      const replies = [transcribe(server), transcribe(server, { prompt: "Second." })];
      await until("the first", () => recogniser.clips.length === 1);
      replies.push(transcribe(server, { prompt: "Other." }, { headers: other.auth }));
      await until("the other key's", () => recogniser.clips.length === 2);
      assert.equal(recogniser.asked.at(-1)?.prompt, "Other.");
      recogniser.release();
      for (const reply of await Promise.all(replies)) assert.equal(reply.status, 200);
      assert.equal(recogniser.clips.length, 3);
    });

    test("return 502 when a stopping server's grace is over", async () => {
      recogniser.hold();
      const reply = transcribe(server);
      await until("the recogniser", () => recogniser.clips.length === 1);
      const stopping = server.stop();
      const { status } = await reply;
      await stopping;
      assert.equal(status, 502);
      assert.ok(recogniser.isClosed);
      server = await startTestServer();
    });
  });
});
