import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import fc from "../../properties.ts";
import { until } from "../../waiting.ts";
import { addVoice, deleteVoice } from "../http/forms.ts";
import { startTestServer, type TestServer } from "../http/start.ts";
import { audioOf, type Received, WyomingClient } from "./client.ts";
import { gate, refusal, withWyoming } from "./wyoming-server.ts";

const TEXT = "It is good to hear from you. How was the day? Tell me all of it.";
const SPOKEN = ["audio-start", "audio-chunk", "audio-stop", "synthesize-stopped"];
/** Bytes of the test engine's tone for a text. */
const toneBytes = (text: string): number => text.length * 1_440 * 2;
const typesOf = (events: readonly Received[]): string[] =>
  events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);

let server: TestServer;
let client: WyomingClient;
before(async () => {
  const samples = new Float32Array(24_000);
  const clip = { samples, sampleRateHz: 24_000, durationS: 1, digest: "voice:team" };
  const serverVoices = new Map([["team", { clip, text: null }]]);
  server = await startTestServer({ wyoming: true, serverVoices });
});
after(() => server.stop());
beforeEach(async () => {
  client = await WyomingClient.open(server.wyomingUrl!);
});
afterEach(() => client.close());

interface ListedVoice {
  readonly attribution: { readonly url: string };
  readonly name: string;
  readonly description: string;
  readonly languages: readonly string[];
}

async function describeVoices(): Promise<ListedVoice[]> {
  client.send("describe");
  return (await client.upTo("info"))[0]!.data.tts[0].voices;
}

async function speak(data: object): Promise<Received[]> {
  client.send("synthesize", data);
  return await client.upTo("audio-stop");
}

/** Adds a voice per name: the first to the bridge's key, the second to another. */
async function addVoices(names: readonly string[], description?: string): Promise<void> {
  const { key } = await server.another();
  for (const [index, name] of names.entries()) {
    const fields = description === undefined ? { name } : { name, description };
    assert.equal((await addVoice(server, fields, index === 0 ? server.key : key)).status, 200);
  }
}

describe("describe", () => {
  it("lists the model's voices, which stream, and no recogniser if there is none", async () => {
    client.send("describe");
    const [info] = await client.upTo("info");
    const { tts, ...others } = info!.data;
    assert.deepEqual(others, { asr: [], handle: [], intent: [], wake: [], mic: [], snd: [] });
    assert.equal(tts.length, 1);
    assert.deepEqual([tts[0].supports_synthesize_streaming, tts[0].installed], [true, true]);
    const voices: ListedVoice[] = tts[0].voices.slice(0, 13);
    assert.deepEqual(
      voices.map(({ name }) => name),
      Array.from({ length: 13 }, (_, index) => `${index}`),
    );
    for (const { attribution } of [tts[0], ...voices]) assert.match(attribution.url, /^https:\/\/.+/);
    for (const { languages } of voices) assert.deepEqual(languages, ["en", "en-US", "en-GB"]);
    assert.equal(
      voices[0]!.description,
      "Maya, a woman of about 30, American, of medium pitch (205 Hz): friendly and natural",
    );
    assert.equal(
      voices[10]!.description,
      "Rupert, a man of about 60, American, rather deep (114 Hz): a storyteller, with a wide melody",
    );
  });

  it("lists the server's recordings and the key's current voices", async () => {
    const names = async () =>
      (await describeVoices()).map(({ name, description }) =>
        name === description ? name : `${name}: ${description}`,
      );
    await addVoices(["Cleo", "Dora"], "A calm alto.");
    assert.deepEqual((await names()).slice(15), [
      "team: team, by a recording that this server has",
      "Cleo: Cleo, a calm alto",
    ]);
    for (const name of ["team", "Cleo"])
      assert.equal(audioOf(await speak({ text: "A", voice: { name } })).length, toneBytes("A"), name);
    assert.equal((await deleteVoice(server, "Cleo")).status, 200);
    assert.equal((await names()).length, 16);
    assert.equal((await addVoice(server, { name: "Cleo" })).status, 200);
    assert.deepEqual((await names()).slice(16), ["Cleo"]);
    await deleteVoice(server, "Cleo");
  });
});

it("a ping is answered with its text, and unknown events are ignored", async () => {
  client.send("select-program", { name: "antiphon" });
  client.send("ping", { text: "a" });
  const [pong, ...more] = await client.upTo("pong");
  assert.deepEqual([pong!.data, more], [{ text: "a" }, []]);
});

describe("synthesize", () => {
  it("speaks with a voice of the bridge's key, not of another key", async () => {
    await addVoices(["Anna", "Berta"]);
    assert.equal(audioOf(await speak({ text: "A", voice: { name: "anna" } })).length, toneBytes("A"));
    const { text } = await refusal(client, "synthesize", { text: "A", voice: { name: "Berta" } });
    assert.match(text, /^voice\.name "Berta" is unknown: the voices are .*, "Anna", "team"$/);
  });

  it("sends the format and the time with each chunk", async () => {
    const text = "It is good to hear from you.";
    const events = await speak({ text });
    assert.equal(events[0]!.type, "audio-start");
    for (const [index, timestamp] of [0, 0, 80].entries())
      assert.deepEqual(events[index]!.data, { rate: 24_000, width: 2, channels: 1, timestamp });
    assert.equal(audioOf(events).length, toneBytes(text));
    assert.ok(audioOf(events).some((byte) => byte !== 0));
  });

  it("finds a voice by id, name, OpenAI's names in any case, speaker and language", async () => {
    for (const [voice, pitch] of [
      [{ name: "1" }, "high"],
      [{ name: "Theo" }, "high"],
      [{ name: "maya" }, "low"],
      [{ name: "speaker 1" }, "high"],
      [{ name: "Onyx", language: "de" }, "high"],
      [{ speaker: "1" }, "high"],
      [undefined, "low"],
      [{ language: "en_GB" }, "low"],
      [{ name: "Alloy" }, "low"],
    ] as const)
      assert.equal(pitchOf(audioOf(await speak({ text: "A", voice }))), pitch, JSON.stringify(voice));
  });

  for (const [what, data, text] of [
    ["no text", {}, /^text is missing/],
    ["a number as its text", { text: 1 }, /^text is missing/],
    ["an empty text", { text: " " }, /^text is empty/],
    ["nothing speakable", { text: "👍" }, /^text has nothing speakable/],
    ["a text that is too long", { text: "a".repeat(8_001) }, /more than 8000 characters/],
    ["an unknown format", { text: "a", text_format: "xml" }, /^text_format is not read here/],
    ["invalid SSML", { text: "a", text_format: "ssml" }, /^text: line 1, column 1: SSML begins with <speak>/],
    ["a string as its voice", { text: "a", voice: "0" }, /^voice must be an object/],
    ["an unknown voice", { text: "a", voice: { name: "Ann" } }, /"Ann" is unknown: .* maya, theo, greta, /],
    ["an unknown speaker", { text: "a", voice: { speaker: "99" } }, /^voice.speaker "99" is unknown/],
    [
      "an invalid language",
      { text: "a", voice: { language: { toString: 1 } } },
      /^voice.language must be a string/,
    ],
    [
      "a foreign language",
      { text: "a", voice: { language: "de" } },
      /"de" is not spoken by the model svc-beta-v0.3: ask for one of en-US/,
    ],
  ] as const) {
    it(`with ${what} is refused and ends the connection`, async () => {
      const error = await refusal(client, "synthesize", data);
      assert.equal(error.code, "invalid_request");
      assert.match(error.text, text);
    });
  }
});

/** The two speakers' tones have 220 and 330 Hz, detuned by at most 2 %, and 60 ms here. */
function pitchOf(pcm: Buffer): "low" | "high" {
  let crossings = 0;
  for (let at = 2; at + 1 < pcm.length; at += 2)
    if (pcm.readInt16LE(at) > 0 !== pcm.readInt16LE(at - 2) > 0) crossings++;
  return crossings < 2 * 0.06 * 275 ? "low" : "high";
}

/** Streams chunks as Home Assistant does: the whole text comes again before the end. */
async function streamed(chunks: readonly string[]): Promise<Received[]> {
  client.send("synthesize-start", { voice: { name: "1" } });
  for (const text of chunks) client.send("synthesize-chunk", { text });
  client.send("synthesize", { text: chunks.join("") });
  client.send("synthesize-stop");
  return await client.upTo("synthesize-stopped");
}

describe("a text stream", () => {
  it("is spoken once, as one piece of audio, wherever it is cut", async () => {
    const whole = audioOf(await speak({ text: TEXT, voice: { name: "1" } }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: TEXT.length }), { maxLength: 9 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), TEXT.length];
        const events = await streamed(at.slice(1).map((end, index) => TEXT.slice(at[index], end)));
        assert.deepEqual(typesOf(events), SPOKEN);
        assert.equal(audioOf(events).length, whole.length);
      }),
      { numRuns: 15 },
    );
  });

  it("is spoken before it has ended", async () => {
    client.send("synthesize-start");
    client.send("synthesize-chunk", { text: "It is good to hear from you. And" });
    await client.upTo("audio-chunk");
    client.send("synthesize-chunk", { text: " how was the day?" });
    client.send("synthesize-stop");
    await client.upTo("synthesize-stopped");
  });

  it("lets other events be answered while it is open", async () => {
    client.send("synthesize-start");
    client.send("ping", { text: "here" });
    client.send("describe");
    assert.deepEqual(typesOf(await client.upTo("info")), ["pong", "info"]);
    client.send("synthesize-chunk", { text: "Done." });
    client.send("synthesize-stop");
    await client.upTo("synthesize-stopped");
  });

  it("ends without audio or an error if it has no words", async () => {
    for (const chunks of [[], [" ", "👍"]])
      assert.deepEqual(typesOf(await streamed(chunks)), ["synthesize-stopped"]);
  });

  it("ends with an error, after which the next one is spoken", async () => {
    client.send("synthesize-start", { voice: { name: "nobody" } });
    const [error, stopped] = await client.upTo("synthesize-stopped");
    assert.equal(error?.data.code, "invalid_request");
    assert.match(error?.data.text, /^voice.name "nobody" is unknown: the voices are maya, theo, /);
    assert.equal(stopped?.type, "synthesize-stopped");
    client.send("synthesize-chunk", { text: "This is not spoken." });
    client.send("synthesize", { text: "This is not spoken." });
    client.send("synthesize-stop");
    assert.deepEqual(typesOf(await streamed([TEXT])), SPOKEN);
  });

  it("is refused in a foreign language by the name of its field", async () => {
    client.send("synthesize-start", { voice: { language: "de" } });
    const [error] = await client.upTo("synthesize-stopped");
    assert.match(error?.data.text, /^voice.language "de" is not spoken by the model/);
  });

  it("that failed needs no stop before the next one", async () => {
    client.send("synthesize-start", { voice: { name: "nobody" } });
    await client.upTo("synthesize-stopped");
    assert.deepEqual(typesOf(await streamed([TEXT])), SPOKEN);
  });

  it("is refused as soon as it is too long", async () => {
    client.send("synthesize-start");
    for (let i = 0; i < 9; i++) client.send("synthesize-chunk", { text: "a".repeat(1_000) });
    const error = (await client.upTo("synthesize-stopped")).find(({ type }) => type === "error");
    assert.match(error?.data.text, /more than 8000 characters/);
  });

  it("cannot start inside another", async () => {
    client.send("synthesize-start");
    client.send("synthesize-start");
    const last = (await client.rest()).at(-1);
    assert.equal(last?.type, "error");
    assert.match(last?.data.text, /a stream is open already: send synthesize-stop/);
  });

  it("that was not started is an error", async () => {
    client.send("synthesize-stop");
    assert.match((await client.rest())[0]?.data.text, /^no stream is open: send synthesize-start/);
  });

  it("is metered by all of its characters", async () => {
    const usage = async () => (await server.get("/v1/usage")).json();
    const before = await usage();
    const events = await streamed([TEXT]);
    const after = await usage();
    assert.equal(after.requests, before.requests + 1);
    assert.equal(after.input_chars, before.input_chars + TEXT.length);
    const seconds = audioOf(events).length / 48_000;
    assert.ok(Math.abs(after.output_audio_seconds - before.output_audio_seconds - seconds) < 1e-6);
  });

  it("ends with an error and no audio-stop if the model fails", () =>
    withWyoming({ tone: { failAtFrame: 3 } }, async ({ open }) => {
      client = await open();
      client.send("synthesize-start");
      client.send("synthesize-chunk", { text: TEXT });
      client.send("synthesize-stop");
      const events = await client.upTo("synthesize-stopped");
      assert.deepEqual(typesOf(events), ["audio-start", "audio-chunk", "error", "synthesize-stopped"]);
      assert.equal(events.at(-2)?.data.code, "inference_error");
    }));
});

describe("the bridge's key", () => {
  it("over its rate is refused with the time to retry, in a stream as well", () =>
    withWyoming({ rpm: 1, burst: 1 }, async ({ server: own, open }) => {
      client = await open();
      await speak({ text: "One." });
      const error = await refusal(client, "synthesize", { text: "Two." });
      assert.equal(error.code, "rate_limit_exceeded");
      assert.match(error.text, /the bridge's key is over its rate limit: retry in \d+ seconds/);
      const other = await open();
      other.send("synthesize-start");
      const codes = (await other.upTo("synthesize-stopped")).map(({ type, data }) => data.code ?? type);
      assert.deepEqual(codes, ["rate_limit_exceeded", "synthesize-stopped"]);
      assert.equal((await own.get("/v1/models")).headers.get("x-ratelimit-remaining"), "0");
    }));

  it("is refused from the next request once it is revoked", () =>
    withWyoming({}, async ({ server: own, open }) => {
      await own.tenancy.revokeKey(own.keyId);
      const error = await refusal(await open(), "synthesize", { text: "One." });
      assert.equal(error.code, "authentication_error");
      assert.match(error.text, /revoked: make one with `antiphon keys create`/);
    }));

  it("has its usual share of the slots", () => {
    const { opened, open: release } = gate();
    const flags = { keyConcurrency: "1", keyQueueDepth: "0" };
    return withWyoming({ flags, tone: { beforeFrame: () => opened } }, async ({ server: own, open }) => {
      const first = await open();
      first.send("synthesize", { text: "One." });
      await until("the first to be spoken", async () => (await own.metric("active_streams")) === 1);
      const error = await refusal(await open(), "synthesize", { text: "Two." });
      assert.equal(error.code, "rate_limit_exceeded");
      assert.match(error.text, /too many requests waiting/);
      assert.equal((await own.post("/v1/tts", { text: "Three." })).status, 429);
      release();
      await first.upTo("audio-stop");
    });
  });
});
