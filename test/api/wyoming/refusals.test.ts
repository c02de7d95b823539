import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../../waiting.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../http/start.ts";
import { WyomingClient } from "./client.ts";

async function withServer(
  options: TestServerOptions,
  work: (server: TestServer, open: () => Promise<WyomingClient>) => Promise<void>,
): Promise<void> {
  const server = await startTestServer({ wyoming: true, ...options });
  const clients: WyomingClient[] = [];
  try {
    await work(server, async () => {
      const client = await WyomingClient.open(server.wyomingUrl!);
      clients.push(client);
      return client;
    });
  } finally {
    for (const client of clients) client.close();
    await server.stop();
  }
}

/** What a client is told that sends this and is then let go. */
async function refusal(
  client: WyomingClient,
  type: string,
  data: object,
): Promise<{ text: string; code: string }> {
  client.send(type, data);
  const rest = await client.rest();
  assert.deepEqual(
    rest.map((event) => event.type),
    ["error"],
  );
  return rest[0]?.data;
}

describe("what cannot be spoken is an error that names the remedy, and the connection ends:", () => {
  for (const [what, data, text] of [
    ["no text", {}, /^text is missing/],
    ["a text that is a number", { text: 1 }, /^text is missing/],
    ["an empty text", { text: " " }, /^text is empty/],
    ["nothing speakable", { text: "👍" }, /^text has nothing speakable/],
    ["a text that is too long", { text: "a".repeat(8_001) }, /more than 8000 characters/],
    ["a format", { text: "a", text_format: "xml" }, /^text_format is not read here/],
    ["SSML", { text: "a", text_format: "ssml" }, /^text: line 1, column 1: SSML begins with <speak>/],
    ["a voice that is a text", { text: "a", voice: "0" }, /^voice must be an object/],
    [
      "a voice of no name",
      { text: "a", voice: { name: "Ann" } },
      /"Ann" is unknown: the voices are "0" \(or alloy.*"1" \(or echo/,
    ],
    ["a speaker that is none", { text: "a", voice: { speaker: "99" } }, /^voice.speaker "99" is unknown/],
    [
      "a language that is an object",
      { text: "a", voice: { language: { toString: 1 } } },
      /^voice.language must be a string/,
    ],
    [
      "a language that is not spoken",
      { text: "a", voice: { language: "de" } },
      /"de" is not spoken here: ask for one of en, en-US, en-GB/,
    ],
  ] as const) {
    test(what, () =>
      withServer({}, async (_server, open) => {
        const said = await refusal(await open(), "synthesize", data);
        assert.equal(said.code, "invalid_request");
        assert.match(said.text, text);
      }),
    );
  }
});

test("a voice is known by its id, its name, OpenAI's names in any case, its speaker and its language", () =>
  withServer({}, async (_server, open) => {
    const client = await open();
    const audio: string[] = [];
    for (const voice of [
      { name: "1" },
      { name: "speaker 1" },
      { name: "Onyx", language: "de" },
      { speaker: "1" },
      undefined,
      { language: "en_GB" },
      { name: "Alloy" },
    ]) {
      client.send("synthesize", { text: "A", voice });
      const events = await client.upTo("audio-stop");
      // The tones of the two speakers have other pitches, and each reply its own detuning of 2 % at most.
      audio.push(pitchOf(Buffer.concat(events.map(({ payload }) => payload))));
    }
    assert.deepEqual(audio, ["high", "high", "high", "high", "low", "low", "low"]);
  }));

function pitchOf(pcm: Buffer): "low" | "high" {
  let crossings = 0;
  for (let at = 2; at + 1 < pcm.length; at += 2)
    if (pcm.readInt16LE(at) > 0 !== pcm.readInt16LE(at - 2) > 0) crossings++;
  // 60 ms of 220 or 330 Hz.
  return crossings < 2 * 0.06 * 275 ? "low" : "high";
}

describe("the bridge's key", () => {
  test("that is over its rate is told when to come back, also in a stream and for a recording", () =>
    withServer({ rpm: 1, burst: 1 }, async (server, open) => {
      const client = await open();
      client.send("synthesize", { text: "One." });
      await client.upTo("audio-stop");
      const said = await refusal(client, "synthesize", { text: "Two." });
      assert.equal(said.code, "rate_limit_exceeded");
      assert.match(said.text, /the bridge's key is over its rate limit: retry in \d+ seconds/);
      const other = await open();
      other.send("synthesize-start");
      assert.deepEqual(
        (await other.upTo("synthesize-stopped")).map(({ type, data }) => data.code ?? type),
        ["rate_limit_exceeded", "synthesize-stopped"],
      );
      assert.equal((await server.get("/v1/models")).headers.get("x-ratelimit-remaining"), "0");
    }));

  test("that was revoked is refused from the next request on", () =>
    withServer({}, async (server, open) => {
      await server.tenancy.revokeKey(server.keyId);
      const said = await refusal(await open(), "synthesize", { text: "One." });
      assert.equal(said.code, "authentication_error");
      assert.match(said.text, /revoked: make one with `antiphon keys create`/);
    }));

  test("has its part of the places like every other, whichever way it comes", () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const flags = { keyConcurrency: "1", keyQueueDepth: "0" };
    return withServer({ flags, tone: { beforeFrame: () => held } }, async (server, open) => {
      const first = await open();
      first.send("synthesize", { text: "One." });
      await until("it being spoken", async () => (await server.metric("active_streams")) === 1);
      const said = await refusal(await open(), "synthesize", { text: "Two." });
      assert.equal(said.code, "rate_limit_exceeded");
      assert.match(said.text, /too many requests waiting/);
      assert.equal((await server.post("/v1/tts", { text: "Three." })).status, 429);
      release();
      await first.upTo("audio-stop");
    });
  });
});
