import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startTestServer, type TestServer } from "../http/start.ts";
import { addVoice, deleteVoice } from "../http/voice-form.ts";
import { audioOf, WyomingClient } from "./client.ts";

let server: TestServer;
before(async () => {
  const clip = {
    samples: new Float32Array(24_000),
    sampleRateHz: 24_000,
    durationS: 1,
    digest: "voice:team",
  };
  const serverVoices = new Map([["team", { clip, text: null }]]);
  server = await startTestServer({ wyoming: true, serverVoices });
});
after(() => server.stop());

async function withClient<T>(work: (client: WyomingClient) => Promise<T>): Promise<T> {
  const client = await WyomingClient.open(server.wyomingUrl!);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** Bytes of a tone of so many characters. */
const toneBytes = (text: string): number => text.length * 1_440 * 2;

test("describe tells of voices that stream, and of nobody who hears where there is none", () =>
  withClient(async (client) => {
    client.send("describe");
    const [info] = await client.upTo("info");
    const { tts, ...others } = info!.data;
    assert.deepEqual(others, { asr: [], handle: [], intent: [], wake: [], mic: [], snd: [] });
    assert.equal(tts.length, 1);
    assert.equal(tts[0].supports_synthesize_streaming, true);
    assert.equal(tts[0].installed, true);
    assert.deepEqual(
      tts[0].voices
        .slice(0, 13)
        .map(({ name, description, languages }: Record<string, unknown>) => [name, description, languages]),
      [
        ["0", "Speaker 0, a woman's voice", ["en", "en-US", "en-GB"]],
        ["1", "Speaker 1, a man's voice", ["en", "en-US", "en-GB"]],
        ["2", "Speaker 2, a low woman's voice", ["en", "en-US", "en-GB"]],
        ["3", "Speaker 3, a light man's voice", ["en", "en-US", "en-GB"]],
        ["4", "Speaker 4, a bright woman's voice", ["en", "en-US", "en-GB"]],
        ["5", "Speaker 5, a clear woman's voice", ["en", "en-US", "en-GB"]],
        ["6", "Speaker 6, a calm man's voice", ["en", "en-US", "en-GB"]],
        ["7", "Speaker 7, a very deep man's voice", ["en", "en-US", "en-GB"]],
        ["8", "Speaker 8, a gentle woman's voice", ["en", "en-US", "en-GB"]],
        ["9", "Speaker 9, a lively man's voice", ["en", "en-US", "en-GB"]],
        ["10", "Speaker 10, a storyteller's voice, a man's", ["en", "en-US", "en-GB"]],
        ["11", "Speaker 11, a relaxed woman's voice", ["en", "en-US", "en-GB"]],
        ["12", "Speaker 12, a grave man's voice", ["en", "en-US", "en-GB"]],
      ],
    );
  }));

test("describe tells of the server's own recordings, and of those that the bridge's key has just now", () =>
  withClient(async (client) => {
    const names = async (): Promise<string[]> => {
      client.send("describe");
      const [info] = await client.upTo("info");
      return info!.data.tts[0].voices.map(({ name, description }: Record<string, string>) =>
        name === description ? name : `${name}: ${description}`,
      );
    };
    const { key } = await server.another();
    for (const [name, of] of [
      ["Cleo", server.key],
      ["Dora", key],
    ] as const) {
      assert.equal((await addVoice(server, { name, description: "A calm alto." }, of)).status, 200);
    }
    assert.deepEqual((await names()).slice(13), [
      "team: team, by a recording that this server has",
      "Cleo: Cleo, a calm alto",
    ]);
    for (const name of ["team", "Cleo"]) {
      client.send("synthesize", { text: "A", voice: { name } });
      assert.equal(audioOf(await client.upTo("audio-stop")).length, toneBytes("A"), name);
    }
    assert.equal((await deleteVoice(server, "Cleo")).status, 200);
    assert.equal((await names()).length, 14);
    assert.equal((await addVoice(server, { name: "Cleo" })).status, 200);
    assert.deepEqual((await names()).slice(14), ["Cleo"]);
    await deleteVoice(server, "Cleo");
  }));

test("a ping is answered with its text, and events that nobody knows with nothing", () =>
  withClient(async (client) => {
    client.send("select-program", { name: "antiphon" });
    client.send("ping", { text: "a" });
    assert.deepEqual(
      (await client.upTo("pong")).map(({ data }) => data),
      [{ text: "a" }],
    );
  }));

describe("synthesize", () => {
  test("speaks with a voice of the bridge's key by its name, and not with one of another's", () =>
    withClient(async (client) => {
      const { key } = await server.another();
      for (const [name, of] of [
        ["Anna", server.key],
        ["Berta", key],
      ] as const) {
        assert.equal((await addVoice(server, { name }, of)).status, 200);
      }
      client.send("synthesize", { text: "A", voice: { name: "anna" } });
      assert.equal(audioOf(await client.upTo("audio-stop")).length, toneBytes("A"));
      client.send("synthesize", { text: "A", voice: { name: "Berta" } });
      const error = (await client.upTo("error")).at(-1);
      assert.match(error!.data.text, /^voice\.name "Berta" is unknown: the voices are .*, "Anna", "team"$/);
    }));

  test("gives audio of which every chunk tells its format and time", () =>
    withClient(async (client) => {
      const text = "It is good to hear from you.";
      client.send("synthesize", { text });
      const events = await client.upTo("audio-stop");
      const [start, first, second] = events;
      assert.deepEqual(start!.data, { rate: 24_000, width: 2, channels: 1, timestamp: 0 });
      assert.equal(start!.type, "audio-start");
      assert.deepEqual(first!.data, { rate: 24_000, width: 2, channels: 1, timestamp: 0 });
      assert.deepEqual(second!.data, { rate: 24_000, width: 2, channels: 1, timestamp: 80 });
      assert.equal(audioOf(events).length, toneBytes(text));
      assert.ok(audioOf(events).some((byte) => byte !== 0));
    }));
});
