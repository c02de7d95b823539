import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import fc from "../../properties.ts";
import { startTestServer, type TestServer } from "../http/start.ts";
import { audioOf, type Received, WyomingClient } from "./client.ts";

const TEXT = "It is good to hear from you. How was the day? Tell me all of it.";

let server: TestServer;
let client: WyomingClient;
before(async () => {
  server = await startTestServer({ wyoming: true });
});
after(() => server.stop());
beforeEach(async () => {
  client = await WyomingClient.open(server.wyomingUrl!);
});
afterEach(() => client.close());

/** Speaks some pieces as Home Assistant does: the whole text comes once more before the end. */
async function streamed(pieces: readonly string[]): Promise<Received[]> {
  client.send("synthesize-start", { voice: { name: "1" } });
  for (const text of pieces) client.send("synthesize-chunk", { text });
  client.send("synthesize", { text: pieces.join("") });
  client.send("synthesize-stop");
  return await client.upTo("synthesize-stopped");
}

const typesOf = (events: readonly Received[]): string[] =>
  events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);

describe("a stream of text", () => {
  test("is spoken once, as one piece of audio, wherever it is cut", async () => {
    client.send("synthesize", { text: TEXT, voice: { name: "1" } });
    const whole = audioOf(await client.upTo("audio-stop"));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: TEXT.length }), { maxLength: 9 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), TEXT.length];
        const events = await streamed(at.slice(1).map((end, index) => TEXT.slice(at[index], end)));
        assert.deepEqual(typesOf(events), ["audio-start", "audio-chunk", "audio-stop", "synthesize-stopped"]);
        assert.equal(audioOf(events).length, whole.length);
      }),
      { numRuns: 15 },
    );
  });

  test("is heard before it has ended", async () => {
    client.send("synthesize-start");
    client.send("synthesize-chunk", { text: "It is good to hear from you. And" });
    await client.upTo("audio-chunk");
    client.send("synthesize-chunk", { text: " how was the day?" });
    client.send("synthesize-stop");
    await client.upTo("synthesize-stopped");
  });

  test("lets other events be answered while it is open", async () => {
    client.send("synthesize-start");
    client.send("ping", { text: "here" });
    client.send("describe");
    assert.deepEqual(typesOf(await client.upTo("info")), ["pong", "info"]);
    client.send("synthesize-chunk", { text: "Done." });
    client.send("synthesize-stop");
    await client.upTo("synthesize-stopped");
  });

  test("without words ends without audio, and is no failure", async () => {
    assert.deepEqual(typesOf(await streamed([])), ["synthesize-stopped"]);
    assert.deepEqual(typesOf(await streamed([" ", "👍"])), ["synthesize-stopped"]);
  });

  test("that fails is told so and ended, and the next one is spoken", async () => {
    client.send("synthesize-start", { voice: { name: "nobody" } });
    const [error, stopped] = await client.upTo("synthesize-stopped");
    assert.equal(error?.data.code, "invalid_request");
    assert.match(error?.data.text, /^voice.name "nobody" is unknown: the voices are "0" \(or alloy, /);
    assert.equal(stopped?.type, "synthesize-stopped");
    client.send("synthesize-chunk", { text: "Nobody says this." });
    client.send("synthesize", { text: "Nobody says this." });
    client.send("synthesize-stop");
    const events = await streamed([TEXT]);
    assert.deepEqual(typesOf(events), ["audio-start", "audio-chunk", "audio-stop", "synthesize-stopped"]);
  });

  test("that failed may be followed by the next one although its client never stopped it", async () => {
    client.send("synthesize-start", { voice: { name: "nobody" } });
    await client.upTo("synthesize-stopped");
    const events = await streamed([TEXT]);
    assert.deepEqual(typesOf(events), ["audio-start", "audio-chunk", "audio-stop", "synthesize-stopped"]);
  });

  test("that is too long is refused before all of it is there", async () => {
    client.send("synthesize-start");
    for (let i = 0; i < 9; i++) client.send("synthesize-chunk", { text: "a".repeat(1_000) });
    const [error] = (await client.upTo("synthesize-stopped")).filter(({ type }) => type === "error");
    assert.match(error?.data.text, /more than 8000 characters/);
  });

  test("cannot be begun inside of another", async () => {
    client.send("synthesize-start");
    client.send("synthesize-start");
    const events = await client.rest();
    assert.deepEqual(typesOf(events).slice(-1), ["error"]);
    assert.match(events.at(-1)?.data.text, /a stream is open already: send synthesize-stop/);
  });

  test("is metered by all of its characters", async () => {
    const before = await (await server.get("/v1/usage")).json();
    const events = await streamed([TEXT]);
    const usage = await (await server.get("/v1/usage")).json();
    assert.equal(usage.requests, before.requests + 1);
    assert.equal(usage.input_chars, before.input_chars + TEXT.length);
    const seconds = audioOf(events).length / 48_000;
    assert.ok(Math.abs(usage.output_audio_seconds - before.output_audio_seconds - seconds) < 1e-6);
  });
});

test("a model that fails inside of a stream ends it with an error and no audio-stop", async () => {
  const failing = await startTestServer({ wyoming: true, tone: { failAtFrame: 3 } });
  const other = await WyomingClient.open(failing.wyomingUrl!);
  other.send("synthesize-start");
  other.send("synthesize-chunk", { text: TEXT });
  other.send("synthesize-stop");
  const events = await other.upTo("synthesize-stopped");
  assert.deepEqual(typesOf(events), ["audio-start", "audio-chunk", "error", "synthesize-stopped"]);
  assert.equal(events.at(-2)?.data.code, "inference_error");
  other.close();
  await failing.stop();
});
