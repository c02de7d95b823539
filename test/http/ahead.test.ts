import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { WyomingClient } from "../wyoming/client.ts";
import { startTestServer, type TestServer } from "./start.ts";

/** The tones take 60 ms a character: 2.4 s, and a minute. */
const SHORT = "word ".repeat(8);
const LONG = "word ".repeat(200);
const AHEAD_S = 1;

let server: TestServer;
before(async () => {
  server = await startTestServer({ flags: { maxAheadS: `${AHEAD_S}` }, wyoming: true });
});
after(() => server.stop());

const posted = async (path: string, body: object, headers?: Record<string, string>): Promise<void> => {
  const reply = await server.post(path, body, headers);
  assert.equal(reply.status, 200);
  await reply.arrayBuffer();
};
const speech = (input: string, more: object = {}) => posted("/v1/audio/speech", { input, ...more });
const vapi = (text: string) => ({ message: { type: "voice-request", text, sampleRate: 8_000 } });

async function wyoming(ask: (client: WyomingClient) => void): Promise<void> {
  const client = await WyomingClient.open(server.wyomingUrl!);
  ask(client);
  await client.upTo("audio-stop");
  client.close();
}

/** What is played as it comes: by whom, and how it is asked for. */
const PLAYED: readonly (readonly [string, (text: string) => Promise<void>])[] = [
  ["a stream of a conversation", (text) => posted("/v1/converse/stream", { conversation: [{ text }] })],
  ["events of OpenAI's API", (text) => speech(text, { stream_format: "sse" })],
  ["bytes of OpenAI's API as they are spoken", (text) => speech(text, { stream_format: "audio" })],
  ["samples for Vapi", (text) => posted("/v1/audio/telephony", vapi(text))],
  [
    "a text that comes in pieces by Wyoming's protocol",
    (text) =>
      wyoming((client) => {
        client.send("synthesize-start");
        client.send("synthesize-chunk", { text });
        client.send("synthesize-stop");
      }),
  ],
];

for (const [what, ask] of PLAYED) {
  test(`${what} keeps the pace of its listener`, async () => {
    const askedMs = performance.now();
    await ask(SHORT);
    const tookS = (performance.now() - askedMs) / 1_000;
    assert.ok(tookS >= SHORT.length * 0.06 - AHEAD_S - 0.08, `${tookS} s`);
  });
}

/** What its client may wait for until all of it is there. */
const WHOLE: readonly (readonly [string, (text: string) => Promise<void>])[] = [
  ["a reply in one piece", (text) => posted("/v1/tts", { text, params: { max_new_tokens: 1_000 } })],
  [
    "a stream whose client says that it keeps its own pace",
    (text) =>
      posted(
        "/v1/converse/stream",
        { conversation: [{ text }], params: { max_new_tokens: 1_000 } },
        { "X-Antiphon-Pace": "own" },
      ),
  ],
  ["a file of OpenAI's API", (text) => speech(text)],
  ["a file that tells its length", (text) => speech(text, { response_format: "wav" })],
  ["a file for jambonz", (text) => posted("/v1/audio/telephony", { text, type: "text" })],
  [
    "a text that is sent whole by Wyoming's protocol",
    (text) => wyoming((c) => c.send("synthesize", { text })),
  ],
];

for (const [what, ask] of WHOLE) {
  test(`${what} comes as fast as it is made`, async () => {
    const askedMs = performance.now();
    await ask(LONG);
    const tookS = (performance.now() - askedMs) / 1_000;
    assert.ok(tookS < LONG.length * 0.06 - AHEAD_S - 1, `${tookS} s: no sooner than one would listen`);
  });
}

test("how far a stream comes ahead is told with the other limits", async () => {
  const { limits } = await (await server.get("/v1/info")).json();
  assert.equal(limits.max_ahead_seconds, AHEAD_S);
});
