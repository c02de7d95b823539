import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { encodeWav } from "../../../src/audio/encode-wav.ts";
import { RecogniserError } from "../../../src/core/recogniser.ts";
import { goldenRecording } from "../../audio/recordings/golden-recordings.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { within } from "../../waiting.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { PATH, type Parts, transcribe, WAV } from "./transcription-form.ts";
import type { Reply } from "./wire.ts";

let server: TestServer;
let recogniser: ScriptedRecogniser;
before(async () => {
  recogniser = new ScriptedRecogniser();
  server = await startTestServer({ recogniser });
});
after(async () => {
  assert.equal((await (await server.get("/v1/usage")).json()).requests, 0, "a refusal is not metered");
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

/** Posts bytes as they are. */
function raw(body: string | Uint8Array<ArrayBuffer> | null, type: string | null): Promise<Reply> {
  const headers: Record<string, string> = { "X-API-Key": server.key };
  if (type !== null) headers["Content-Type"] = type;
  return fetch(server.url + PATH, {
    method: "POST",
    headers,
    body: body === null ? null : Buffer.from(body),
  });
}

describe("a transcription is refused by name", () => {
  test("where a field is missing, twice, unknown, or a file", async () => {
    await refused({ file: undefined }, 422, /^file is missing: send the recording as a file/);
    await refused({ file: [new Blob([WAV]), new Blob([WAV])] }, 422, /^file is there more than once/);
    await refused({ model: new Blob(["whisper-1"]) }, 422, /^model is sent as a file: send it as text/);
    await refused({ model: ["whisper-1", "whisper-1"] }, 422, /^model is there more than once/);
    await refused({ audio: new Blob([WAV]), file: undefined }, 422, /^audio is sent as a file/);
    await refused(
      { langauge: "en" },
      422,
      /^"langauge" is not a field of this form: leave it out; there are file, /,
    );
    await refused({ "model[]": "whisper-1" }, 422, /^"model\[\]" is not a field/);
    await refused(
      { "include[]": "logprobs" },
      400,
      /^include is not taken here, token probabilities are not reported/,
    );
    const keywords = Array(101).fill("kettle");
    await refused(
      { "keywords[]": keywords },
      422,
      /^keywords is there 101 times: send it 100 times at most$/,
    );
    await refused({ "known_speaker_names[]": "Ann" }, 400, /^known_speaker_names is not taken here/);
  });

  test("where a value is of the wrong type or out of range", async () => {
    await refused({ temperature: "warm" }, 422, /^temperature must be a number$/);
    await refused({ temperature: "1.01" }, 422, /^temperature must be at most 1$/);
    await refused({ temperature: "-0.1" }, 422, /^temperature must be at least 0$/);
    await refused({ stream: "maybe" }, 422, /^stream must be true or false$/);
    await refused({ prompt: "x".repeat(8_001) }, 422, /^prompt must have at most 8000 characters$/);
    await refused(
      { prompt: "x".repeat(7_990), "keywords[]": ["a kettle", "milk"] },
      422,
      /^prompt and keywords must have at most 8000 characters$/,
    );
    await refused({ prompt: "x".repeat(70_000) }, 422, /^prompt is over 65536 bytes/);
    await refused(
      { response_format: "verbose_json", "timestamp_granularities[]": "phoneme" },
      422,
      /^timestamp_granularities\[\] must be one of segment, word$/,
    );
  });

  test("where it means nothing", async () => {
    await refused(
      { model: "whisper-9" },
      400,
      /^model "whisper-9" is unknown: send "whisper-1" or "scripted-rec/,
    );
    await refused({ model: "gpt-4o-transcribe-diarize" }, 400, /is unknown/);
    await refused(
      { response_format: "docx" },
      400,
      /^response_format "docx" is not made here: ask for one of "json"/,
    );
    await refused({ language: "klingon" }, 400, /^language "klingon" is unknown: send its ISO 639-1 code/);
    await refused({ language: "en-GB" }, 400, /^language "en-GB" is unknown/);
    await refused({ "timestamp_granularities[]": "word" }, 400, /needs response_format "verbose_json"/);
    await refused({ "languages[]": ["en", "klingon"] }, 400, /^languages "klingon" is unknown: send its ISO/);
    await refused(
      { "languages[]": "en", language: "en" },
      400,
      /^languages is not taken beside language: send/,
    );
    await refused({ stream: "true", response_format: "srt" }, 400, /^stream gives text alone/);
  });

  test("where its file is no recording", async () => {
    const blob = (bytes: Uint8Array<ArrayBuffer>) => ({ file: new Blob([bytes]) });
    await refused(
      blob(new Uint8Array(0)),
      400,
      /^file: undecodable audio: it is empty: send a whole and undamaged file of WAV/,
    );
    await refused(
      { file: "anna.wav" },
      422,
      /^file is text and no recording: send the file itself, with curl/,
    );
    await refused(
      blob(new TextEncoder().encode("words")),
      400,
      /^file: undecodable audio: it is not a recording that can be read: send WAV/,
    );
    await refused(
      blob(goldenRecording("mono.m4a")),
      400,
      /^file: undecodable audio: it is MP4 or M4A, which cannot/,
    );
    await refused(blob(WAV.slice(0, 500)), 400, /^file: undecodable audio: it is cut off/);
    await refused(
      blob(goldenRecording("mono.ogg").slice(0, 3_000)),
      400,
      /^file: undecodable audio: it is cut off/,
    );
    const long = encodeWav(new Int16Array(1_000 * 1_501), 1_000) as Uint8Array<ArrayBuffer>;
    await refused(blob(long), 400, /^file is longer than 1500 s, .* send it in pieces$/);
  });

  test("where it is over the cap, of the body or of the file", async () => {
    const cap = 25 * 2 ** 20;
    await refused(
      { file: new Blob([new Uint8Array(cap + 1)]) },
      400,
      /^file is over the cap of 26214400 bytes/,
    );
    await refused(
      { file: new Blob([new Uint8Array(cap + 2 ** 20)]) },
      400,
      /^the body is over the cap of 26345472/,
    );
  });

  test("where its body is no form, or not all of one", async () => {
    const needsForm = /^the body must be a form: send it with Content-Type: multipart\/form-data/;
    await isRefused(await raw("{}", "application/json"), 422, needsForm);
    await isRefused(await raw("{}", null), 422, needsForm);
    await isRefused(await raw(null, null), 422, needsForm);
    for (const type of ["", "nonsense", "text/plain; charset=x", "multipart/mixed; boundary=x", ";"])
      await isRefused(await raw("{}", type), 422, needsForm);
    await isRefused(await raw("a=b", "multipart/form-data"), 422, /^Content-Type names no boundary/);
    const type = "multipart/form-data; boundary=xyz";
    await isRefused(await raw("Hello there.", type), 422, /^the body is not a multipart form/);
    await isRefused(await raw("", type), 422, /./);
    const part = '--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF';
    await isRefused(await raw(part, type), 422, /^the form is cut off or damaged/);
    await isRefused(
      await raw("--xyz--\r\n", type),
      422,
      /^(?:file is missing|the body is not a multipart form)/,
    );
    const many = Array.from(
      { length: 170 },
      (_, at) => `--xyz\r\nContent-Disposition: form-data; name="f${at}"\r\n\r\n\r\n`,
    );
    await isRefused(await raw(`${many.join("")}--xyz--\r\n`, type), 422, /^the form has over 160 fields/);
  });

  test("without a key, with another method, and over the rate limit", async () => {
    assert.equal((await transcribe(server, {}, {})).status, 401);
    const get = await server.get(PATH);
    assert.equal(get.status, 405);
    assert.equal(get.headers.get("allow"), "POST");
    const slow = await startTestServer({ recogniser: new ScriptedRecogniser(), rpm: 1, burst: 1 });
    try {
      assert.equal((await transcribe(slow)).status, 200);
      const limited = await transcribe(slow);
      assert.equal(limited.status, 429);
      assert.ok(limited.headers.get("retry-after"));
    } finally {
      await slow.stop();
    }
  });
});

describe("a transcription fails", () => {
  test("where there is no recogniser, and says how to get one", async () => {
    const deaf = await startTestServer();
    try {
      await isRefused(await transcribe(deaf), 502, /`antiphon models pull recogniser`/);
      assert.equal((await transcribe(deaf, {}, {})).status, 401);
    } finally {
      await deaf.stop();
    }
  });

  test("where there is no recogniser, before its body has come", async () => {
    const deaf = await startTestServer();
    const { socket, received, over } = await openRaw(deaf);
    try {
      const headers = { "Content-Type": "multipart/form-data; boundary=x", "Content-Length": "20000000" };
      socket.write(rawRequest(PATH, deaf.key, "", headers));
      await within("the answer", over);
      assert.match(
        received(),
        /^HTTP\/1\.1 502 [\s\S]*\r\nRetry-After: 60\r\n[\s\S]*no recogniser is configured/i,
      );
    } finally {
      socket.destroy();
      await deaf.stop();
    }
  });

  test("where the recogniser does not know the language, and says what to do", async () => {
    recogniser.fail(new RecogniserError("It does not know the language.", { refused: "language" }));
    const remedy = /^language "cy" is not known to the recogniser: leave it out to have it detected/;
    await refused({ language: "cy" }, 400, remedy);
    await refused({ language: "cy", stream: "true" }, 400, remedy);
    await refused({}, 400, /^It does not know the language\.$/);
    recogniser.fail(null);
  });

  test("where the recording is too long for the recogniser, whatever its language is said to be", async () => {
    recogniser.fail(new RecogniserError("It does not take so much.", { refused: "length" }));
    const remedy = /^file is too long for the recogniser: send it in pieces$/;
    for (const parts of [{}, { language: "en" }, { language: "en", stream: "true" }]) {
      await refused(parts, 400, remedy);
    }
    recogniser.fail(null);
  });

  test("with what the recogniser says of itself, and when to retry", async () => {
    recogniser.fail(new RecogniserError("the recogniser is resting: retry", { retryAfterMs: 1_500 }));
    const reply = await transcribe(server);
    assert.equal(reply.headers.get("retry-after-ms"), "1500");
    await isRefused(reply, 502, /^the recogniser is resting: retry$/);
    recogniser.fail(new Error("secret words in a file of mine"));
    await isRefused(await transcribe(server, { stream: "true" }), 500, /^something went wrong in the server/);
    recogniser.fail(null);
  });

  test("with an event once its status is sent", async () => {
    recogniser.hold();
    const reply = await transcribe(server, { stream: "true" });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("content-type"), "text/event-stream; charset=utf-8");
    recogniser.fail(new RecogniserError("the recogniser is resting: retry"));
    recogniser.release();
    const events = (await reply.text()).trim().split("\n\n");
    const { type, error } = JSON.parse(events.at(-1)!.replace("data: ", ""));
    assert.equal(type, "error");
    assert.equal(error.type, "inference_error");
    assert.equal(error.message, "the recogniser is resting: retry");
    recogniser.fail(null);
  });

  test("when it takes too long, and is stopped then", async () => {
    const slow = new ScriptedRecogniser();
    slow.hold();
    const other = await startTestServer({ recogniser: slow, flags: { requestTimeoutMs: "150" } });
    try {
      await isRefused(await transcribe(other), 502, /^the recogniser took too long: retry$/);
      assert.equal(slow.stopped.length, 1);
    } finally {
      await other.stop();
    }
    assert.ok(slow.isClosed);
  });
});
