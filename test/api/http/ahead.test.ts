import assert from "node:assert/strict";
import { after, before, mock, test } from "node:test";
import { SpeechService } from "../../../src/serving/reply/speech-service.ts";
import { WyomingClient } from "../wyoming/client.ts";
import { startTestServer, type TestServer } from "./start.ts";

const TEXT = "Good evening.";
const AHEAD_S = 1;

let server: TestServer;
before(async () => {
  server = await startTestServer({ flags: { maxAheadS: `${AHEAD_S}` }, wyoming: true });
});
after(() => server.stop());

/** Whether what is asked for is played as it comes, as the service is told. How it then keeps pace: `lead.test.ts`. */
async function isPlayed(ask: (text: string) => Promise<void>): Promise<boolean | undefined> {
  const converse = mock.method(SpeechService.prototype, "speak");
  try {
    await ask(TEXT);
    assert.equal(converse.mock.callCount(), 1);
    return converse.mock.calls[0]?.arguments[1].isPlayed;
  } finally {
    converse.mock.restore();
  }
}

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
    assert.equal(await isPlayed(ask), true);
  });
}

/** What its client may wait for until all of it is there. */
const WHOLE: readonly (readonly [string, (text: string) => Promise<void>])[] = [
  ["a reply in one piece", (text) => posted("/v1/tts", { text })],
  [
    "a stream whose client says that it keeps its own pace",
    (text) => posted("/v1/converse/stream", { conversation: [{ text }] }, { "X-Antiphon-Pace": "own" }),
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
    assert.equal(await isPlayed(ask), false);
  });
}

test("how far a stream comes ahead is told with the other limits", async () => {
  const { limits } = await (await server.get("/v1/info")).json();
  assert.equal(limits.max_ahead_seconds, AHEAD_S);
});
