import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Client, clientOf, okay } from "./client.ts";
import { begun, crowd } from "./crowd.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const TEMPERATURE_0 = { temperature: 0 };
const SAID = "We met at the harbour, well before sunrise, and nobody had slept much.";
const LONG = "The wind turned in the night and nobody slept much after that. ".repeat(30);

describe("a reply to turns with audio", () => {
  let busy: ServerProcess;
  let quiet: ServerProcess;
  let client: Client;
  let other: Client;
  let body: { conversation: Record<string, string>[]; params: object };
  let man: string;
  before(async () => {
    [busy, quiet] = await Promise.all([
      // Unpaced, so that there is always something else to compute.
      startServerProcess({ env: { ANTIPHON_WORKERS: "2", ANTIPHON_MAX_AHEAD_S: "0" } }),
      startServerProcess(),
    ]);
    client = clientOf(busy.url, busy.key);
    other = clientOf(quiet.url, quiet.key);
    const [asMan, asWoman] = await Promise.all([
      spoken(client, "1", SAID),
      spoken(client, "0", "And what did they say to that?"),
    ]);
    man = asMan;
    const conversation = [
      { speaker: "0", audio_wav_b64: asMan },
      { speaker: "1", text: "And what did they say to that?", audio_wav_b64: asWoman },
      { speaker: "0", text: "Nothing that anybody could remember." },
    ];
    body = { conversation, params: TEMPERATURE_0 };
  });
  after(() => Promise.all([busy.stop(), quiet.stop()]));

  it("is the same byte for byte, cached or not, alone or among six streams", async () => {
    const alone = await other.converse(body);
    const disperse = await crowd(client, LONG, 6);
    const crowded = await Promise.all([
      client.converse(body),
      client.streamed(body),
      client.converse(body),
      client.streamed(body),
    ]);
    assert.equal(await begun(client), 6, "the others were still being spoken");
    await disperse();
    const known = [await client.converse(body), await client.streamed(body), await other.streamed(body)];
    assert.ok(alone.length > 48_000, `${alone.length} bytes`);
    for (const [index, pcm] of [...crowded, ...known].entries())
      assert.ok(pcm.equals(alone), `reply ${index}`);
  });

  it("reports meta.voice, whole and in a stream's end", async () => {
    const whole = await okay(await client.post("/v1/converse", body));
    let end: { event: string; data: { meta: { voice?: unknown } } } | undefined;
    for await (const event of client.stream(body)) end = event;
    assert.equal(end?.event, "end");
    assert.deepEqual(end?.data.meta.voice, whole.meta.voice);
    const { voice } = whole.meta;
    assert.deepEqual(Object.keys(voice).sort(), [
      "cautions",
      "entrained_by",
      "followed",
      "level_db",
      "pitch_range",
      "pitch_semitones",
      "rate",
      "spectrum_db",
      "speech_seconds",
      "start",
      "trust",
      "turns",
      "warp",
    ]);
    assert.deepEqual([voice.start, voice.turns, voice.entrained_by, voice.trust], ["1", [0], null, 1]);
    assert.ok(voice.speech_seconds > 2 && voice.speech_seconds < 6, `${voice.speech_seconds} s`);
  });

  it("has no meta.voice without audio", async () => {
    const conversation = [{ text: "Hello." }, { speaker: "1", text: "Good morning." }];
    const replies = await Promise.all([
      okay(await client.post("/v1/converse", { conversation, params: TEMPERATURE_0 })),
      okay(await client.post("/v1/tts", { text: "Good morning." })),
    ]);
    for (const { meta } of replies) assert.ok(!("voice" in meta), JSON.stringify(meta));
    for await (const { event, data } of client.stream({ conversation })) {
      if (event === "end") assert.ok(!("voice" in data.meta));
    }
  });

  it("takes level and pace of another speaker's clip", async () => {
    const conversation = [
      { speaker: "1", audio_wav_b64: man },
      { speaker: "0", text: "Good morning." },
    ];
    const { meta } = await okay(await client.post("/v1/converse", { conversation, params: TEMPERATURE_0 }));
    const { start, followed, turns, entrained_by, pitch_semitones, level_db, rate } = meta.voice;
    assert.deepEqual([start, followed, turns, entrained_by, pitch_semitones], ["0", [], [], 0, 0]);
    assert.ok(Math.abs(level_db) <= 3 && rate >= 0.95 && rate <= 1.05, JSON.stringify(meta.voice));
  });

  it("follows what its model's description says", async () => {
    const FOLLOWED = {
      "svc-beta-v0.3": ["pitch", "level", "rate", "pauses", "tract", "dynamics", "spectrum"],
      "svc-beta-v0.2": ["pitch", "level", "rate", "pauses", "tract", "dynamics"],
      "svc-beta-v0.1": ["pitch", "level", "rate", "pauses"],
      "svc-atom-beta-v0.1": ["pitch", "level"],
    };
    const WORDS = {
      "svc-beta-v0.3": /follows all .*pitch, level, pace, vocal tract and colour/,
      "svc-beta-v0.2": /follows pitch, level, pace and vocal tract, not the colour/,
      "svc-beta-v0.1": /follows pitch, level and pace/,
      "svc-atom-beta-v0.1": /follows pitch and level alone/,
    };
    const { data } = await okay(await client.get("/v1/models"));
    const pcm = new Set<string>();
    for (const [model, followed] of Object.entries(FOLLOWED)) {
      const reply = await okay(await client.post("/v1/converse", { ...body, model }));
      assert.deepEqual(reply.meta.voice.followed, followed, model);
      const { warp, spectrum_db, rate } = reply.meta.voice;
      if (!followed.includes("tract")) assert.equal(warp, 0.75, `${model} keeps the tract of voice 1`);
      if (!followed.includes("spectrum")) assert.equal(spectrum_db, 0, model);
      if (!followed.includes("rate")) assert.equal(rate, 1, model);
      pcm.add(reply.reply.audio.data_b64);
      const { description } = data.find(({ id }: { id: string }) => id === model);
      assert.match(description, WORDS[model as keyof typeof WORDS]);
    }
    assert.equal(pcm.size, 4);
  });
});

async function spoken(client: Client, speaker: string, text: string): Promise<string> {
  const reply = await okay(await client.post("/v1/tts", { text, speaker, params: TEMPERATURE_0 }));
  return reply.audio.data_b64;
}
