import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { startTestServer, type TestServer } from "../http/start.ts";
import { WyomingClient } from "./client.ts";

const HOME = { rate: 16_000, width: 2, channels: 1 };
/** Half a second of it. */
const HALF = new Uint8Array(16_000);
const SAID = "One way & another. Two --> <three>.";

let server: TestServer;
let client: WyomingClient;
let recogniser: ScriptedRecogniser;
let canHear = true;
before(async () => {
  recogniser = new ScriptedRecogniser();
  server = await startTestServer({ recogniser, wyoming: true, canHear: () => canHear });
});
after(() => server.stop());
beforeEach(async () => {
  canHear = true;
  recogniser.clips.length = 0;
  recogniser.asked.length = 0;
  client = await WyomingClient.open(server.wyomingUrl!);
});
afterEach(() => client.close());

describe("a recording", () => {
  test("is answered with what is said in it, and metered", async () => {
    const before = await (await server.get("/v1/usage")).json();
    client.send("transcribe", { language: "en-US" });
    client.send("audio-start", HOME);
    client.send("audio-chunk", HOME, HALF);
    client.send("audio-chunk", HOME, HALF);
    client.send("audio-stop");
    const [transcript] = await client.upTo("transcript");
    assert.deepEqual(transcript?.data, { text: SAID, language: "en" });
    const [clip] = recogniser.clips;
    assert.deepEqual([clip?.durationS, clip?.sampleRateHz, clip?.samples.length], [1, 16_000, 16_000]);
    assert.equal(recogniser.asked[0]?.language, "en");
    const usage = await (await server.get("/v1/usage")).json();
    assert.equal(usage.requests, before.requests + 1);
    assert.equal(usage.input_audio_seconds, before.input_audio_seconds + 1);
  });

  test("may come without transcribe and audio-start, and be of other formats", async () => {
    const format = { rate: 48_000, width: 4, channels: 2 };
    client.send("audio-chunk", format, new Uint8Array(48_000 * 8));
    client.send("audio-stop");
    await client.upTo("transcript");
    assert.equal(recogniser.clips[0]?.durationS, 1);
    assert.equal(recogniser.asked[0]?.language, null);
  });

  test("follows another on one connection, in a language of its own", async () => {
    for (const language of ["de", undefined]) {
      client.send("transcribe", { language });
      client.send("audio-start", HOME);
      client.send("audio-chunk", HOME, HALF);
      client.send("audio-stop");
      await client.upTo("transcript");
    }
    assert.deepEqual(
      recogniser.asked.map(({ language }) => language),
      ["de", null],
    );
  });

  for (const [what, events, message] of [
    ["in no language", [["transcribe", { language: "Klingon" }]], /language "Klingon" is unknown/],
    ["of bytes that are no samples", [["audio-start", { ...HOME, width: 1 }]], /width 2, 3, 4 bytes/],
    ["of no rate", [["audio-start", { width: 2, channels: 1 }]], /rate may be 8000 to 96000 Hz/],
    ["of a rate below a telephone's", [["audio-start", { ...HOME, rate: 7_999 }]], /rate may be/],
    ["of a rate that nobody records at", [["audio-start", { ...HOME, rate: 96_001 }]], /rate may be/],
    ["of nine channels", [["audio-start", { ...HOME, channels: 9 }]], /channels 1 to 8/],
    ["of a rate that is a text", [["audio-start", { ...HOME, rate: "16000" }]], /rate may be/],
    [
      "inside of another",
      [
        ["audio-start", HOME],
        ["audio-start", HOME],
      ],
      /a recording is open already/,
    ],
    [
      "of nothing",
      [
        ["audio-start", HOME],
        ["audio-stop", {}],
      ],
      /./,
    ],
  ] as const) {
    test(`${what} is refused, and the connection ended`, async () => {
      for (const [type, data] of events) client.send(type, data);
      const rest = await client.rest();
      assert.deepEqual(
        rest.map(({ type }) => type),
        ["error"],
      );
      assert.equal(rest[0]?.data.code, "invalid_request");
      assert.match(rest[0]?.data.text, message);
      assert.equal(recogniser.clips.length, 0);
    });
  }

  test("over 25 MiB is refused", async () => {
    client.send("audio-start", HOME);
    const chunk = new Uint8Array(1024 * 1024);
    for (let i = 0; i < 26; i++) client.send("audio-chunk", HOME, chunk);
    assert.match((await client.rest())[0]?.data.text, /over 26214400 bytes/);
  });

  test("whose client leaves is not heard to its end", async () => {
    recogniser.hold();
    client.send("audio-start", HOME);
    client.send("audio-chunk", HOME, HALF);
    client.send("audio-stop");
    const { until } = await import("../../waiting.ts");
    await until("it being heard", () => recogniser.asked.length === 1);
    client.close();
    await until("it being stopped", () => recogniser.stopped.length === 1);
    recogniser.release();
    await until("its memory being free", async () => (await server.metric("audio_bytes")) === 0);
  });
});

test("describe tells who hears, as soon as it is there and no sooner", async () => {
  client.send("describe");
  const [asr] = (await client.upTo("info")).at(-1)!.data.asr;
  assert.equal(asr.installed, true);
  assert.equal(asr.models[0].name, "scripted-recogniser");
  assert.ok(asr.models[0].languages.includes("en"));
  canHear = false;
  client.send("describe");
  assert.deepEqual((await client.upTo("info")).at(-1)!.data.asr, []);
  client.send("audio-start", HOME);
  assert.match(
    (await client.rest())[0]?.data.text,
    /cannot be transcribed here: run `antiphon models pull recogniser`/,
  );
});
