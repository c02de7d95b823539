import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { resample } from "../../src/audio/resample.ts";
import { makeWav } from "../audio/make-wav.ts";
import { noise, tone } from "../engines/following/analysis/signals.ts";
import { until } from "../waiting.ts";
import { clientOf, okay } from "./client.ts";
import { type ServerWithPool, startServerWithPool } from "./server-with-pool.ts";
import { assertSpeech, rms } from "./speech.ts";

const TEMPERATURE_0 = { temperature: 0 };
const CLIP_TEXT = "We met at the harbour, well before sunrise, and nobody had slept much.";
const TEXT = "Nothing that anybody could remember.";
const COMPACT = "svc-atom-beta-v0.1";
const CAP_BYTES = 25 * 2 ** 20;

describe("a reference clip", () => {
  let server: ServerWithPool;
  let speech: Float32Array;
  before(async () => {
    server = await startServerWithPool();
    const pcm = await server.client.tts({ text: CLIP_TEXT, speaker: "1", params: TEMPERATURE_0 });
    speech = Float32Array.from({ length: pcm.length / 2 }, (_, i) => pcm.readInt16LE(2 * i) / 32_768);
  });
  after(() => server.stop());

  /** Returns the reply to a clip; checks that it is speech and that `meta.voice` has no null. */
  async function replyTo(wav: Uint8Array | string, model = COMPACT) {
    const audio_wav_b64 = typeof wav === "string" ? wav : Buffer.from(wav).toString("base64");
    const conversation = [{ audio_wav_b64 }, { text: TEXT }];
    const reply = await okay(
      await server.client.post("/v1/converse", { conversation, model, params: TEMPERATURE_0 }),
    );
    const samples = assertSpeech(Buffer.from(reply.reply.audio.data_b64, "base64"));
    const { voice } = reply.meta;
    for (const [name, value] of Object.entries(voice)) {
      if (name !== "entrained_by") assert.notEqual(value, null, name);
    }
    return { samples, voice };
  }

  const at = (rateHz: number): Float32Array =>
    Float32Array.from({ length: Math.floor((speech.length * rateHz) / 24_000) - 1 }, (_, i) => {
      const place = (i * 24_000) / rateHz;
      const before = Math.floor(place);
      return speech[before]! + (place - before) * ((speech[before + 1] ?? 0) - speech[before]!);
    });
  const whole = (samples: Float32Array, scale: number, offset = 0) =>
    Array.from(samples, (value) => Math.round(value * (scale - 1)) + offset);
  const s16 = (samples: Float32Array, rateHz = 24_000, rest: object = {}) =>
    makeWav({ encoding: "s16", rateHz, channels: [whole(samples, 0x8000)], ...rest });

  const f32 = (samples: number[], rest: object = {}) =>
    makeWav({ encoding: "f32", rateHz: 24_000, channels: [samples], ...rest });

  it("is analysed alike in every kind of WAV", async () => {
    const floats = [...speech];
    const kinds: Record<string, Uint8Array | string> = {
      "24 bit": makeWav({ encoding: "s24", rateHz: 24_000, channels: [whole(speech, 0x800000)] }),
      "32 bit": makeWav({ encoding: "s32", rateHz: 24_000, channels: [whole(speech, 0x80000000)] }),
      "8 bit": makeWav({ encoding: "u8", rateHz: 24_000, channels: [whole(speech, 0x80, 0x80)] }),
      "32-bit float": f32(floats),
      extensible: s16(speech, 24_000, { extensible: true }),
      "extensible float": f32(floats, { extensible: true }),
      stereo: s16(speech, 24_000, { channels: [whole(speech, 0x8000), whole(speech, 0x8000)] }),
      "sizes of 0": s16(speech, 24_000, { riffSize: 0, dataSize: 0 }),
      "sizes of 0xFFFFFFFF": s16(speech, 24_000, { riffSize: 0xffffffff, dataSize: 0xffffffff }),
      "chunks around": s16(speech, 24_000, {
        before: [{ id: "LIST", body: Buffer.from("odd") }],
        after: [{ id: "id3 ", body: Buffer.alloc(7) }],
      }),
      "a data URI": `data:audio/wav;base64,${s16(speech).toString("base64")}`,
    };
    const narrow = [8_000, 11_025, 16_000].map((rateHz) => `${rateHz} Hz`);
    for (const rateHz of [8_000, 11_025, 16_000]) kinds[`${rateHz} Hz`] = s16(at(rateHz), rateHz);
    for (const rateHz of [22_050, 44_100, 48_000, 96_000])
      kinds[`${rateHz} Hz`] = s16(resample(speech, 24_000, rateHz), rateHz);
    const { voice: plain } = await replyTo(s16(speech));
    assert.deepEqual([plain.start, plain.followed, plain.turns], ["1", ["pitch", "level"], [0]]);
    const replies = Object.entries(kinds).map(async ([kind, wav]) => {
      const { voice } = await replyTo(wav);
      assert.deepEqual([voice.start, voice.followed], [plain.start, plain.followed], kind);
      assert.ok(Math.abs(voice.pitch_semitones - plain.pitch_semitones) <= 0.4, `${kind}: pitch`);
      // A narrow-band recording also lacks the level of its treble.
      const mostDb = narrow.includes(kind) ? 1.5 : 1;
      assert.ok(Math.abs(voice.level_db - plain.level_db) <= mostDb, `${kind}: level ${voice.level_db}`);
    });
    await Promise.all(replies);
  });

  it("without a voice does not change the reply", async () => {
    const { audio } = await okay(await server.client.post("/v1/tts", { text: TEXT, params: TEMPERATURE_0 }));
    const plain = assertSpeech(Buffer.from(audio.data_b64, "base64"));
    const signal = (length: number, of: (i: number) => number) =>
      Float32Array.from({ length }, (_, i) => of(i));
    const signals: Record<string, Uint8Array> = {
      "25 MiB of silence": longSilence(),
      "one sample": s16(Float32Array.of(0.5)),
      "30 ms of speech": s16(speech.subarray(12_000, 12_720)),
      "a constant": s16(signal(48_000, () => 0.7)),
      "a full-scale square wave": s16(signal(72_000, (i) => (i % 160 < 80 ? 1 : -1))),
      "a sine": s16(tone({ sampleRateHz: 24_000, durationS: 3, pitchHz: () => 220, harmonics: 1 })),
      noise: s16(noise(72_000, 3)),
      "denormal floats": f32(Array.from({ length: 72_000 }, (_, i) => (i % 2 ? 1e-40 : -1e-42))),
      "enormous floats": f32(Array.from({ length: 72_000 }, (_, i) => (i % 160 < 80 ? 3e38 : -3e38))),
      "impulses a second apart": s16(signal(96_000, (i) => (i % 24_000 === 0 ? 1 : 0))),
    };
    for (const [name, wav] of Object.entries(signals)) {
      const { samples, voice } = await replyTo(wav, "svc-beta-v0.3");
      assert.deepEqual([voice.start, voice.followed, voice.trust], ["0", [], 0], name);
      assert.deepEqual([voice.pitch_semitones, voice.level_db, voice.rate], [0, 0, 1], name);
      assert.equal(samples.length, plain.length, name);
      assert.ok(Math.abs(20 * Math.log10(rms(samples) / rms(plain))) < 0.5, name);
    }
  });

  it("returns a 400 that names the turn if it cannot be decoded", async () => {
    const wav = s16(speech.subarray(0, 2_400));
    const broken: Record<string, Uint8Array> = {
      "cut off": wav.subarray(0, 3_000),
      empty: new Uint8Array(),
      "no WAV": Buffer.from("ID3 and then some music"),
      NaN: f32([0, Number.NaN]),
      "without samples": s16(new Float32Array()),
      "over the cap": Buffer.concat([longSilence(), Buffer.alloc(1)]),
    };
    for (const [name, bytes] of Object.entries(broken)) {
      const turns = [{ text: "Hm." }, { speaker: "1", audio_wav_b64: Buffer.from(bytes).toString("base64") }];
      const response = await server.client.post("/v1/converse", { conversation: [...turns, { text: TEXT }] });
      const { error } = await response.json();
      assert.deepEqual([response.status, error.type], [400, "invalid_request"], name);
      assert.match(error.message, /^conversation\[1\]\.audio_wav_b64/, name);
    }
  });

  it("may come in 63 turns, of which enough are analysed", async () => {
    const halves = Array.from({ length: 63 }, (_, index) => {
      const from = (index * 1_201) % (speech.length - 12_000);
      const audio_wav_b64 = s16(speech.subarray(from, from + 12_000)).toString("base64");
      return { speaker: String(index % 2), audio_wav_b64 };
    });
    const conversation = [...halves, { speaker: "1", text: TEXT }];
    const { meta, usage } = await okay(
      await server.client.post("/v1/converse", { conversation, params: TEMPERATURE_0, model: COMPACT }),
    );
    assert.equal(usage.input_audio_seconds, 31.5);
    assert.ok(meta.voice.turns.length > 5 && meta.voice.turns.every((index: number) => index % 2 === 1));
    assert.ok(meta.voice.speech_seconds >= 3 && meta.voice.speech_seconds <= 15, JSON.stringify(meta.voice));
  });

  it("may be one of 24 concurrent new clips of a key", async () => {
    const replies = Array.from({ length: 24 }, (_, index) =>
      replyTo(s16(speech.subarray(0, 24_000 + 240 * (index % 20)))),
    );
    const samplesOfReplies = (await Promise.all(replies)).map(({ samples }) => Buffer.from(samples.buffer));
    for (const index of [20, 21, 22, 23])
      assert.ok(samplesOfReplies[index]!.equals(samplesOfReplies[index - 20]!));
    assert.equal(server.pool.stats().replaced, 0);
  });

  it("stops being analysed if the client leaves, unmetered", async () => {
    const { client, pool, frames } = server;
    const { requests } = await client.usage();
    const given = frames.given;
    const clip = new Float32Array(720_000);
    for (let i = 0; i < clip.length; i++) clip[i] = speech[i % speech.length]!;
    const body = { conversation: [{ audio_wav_b64: s16(clip).toString("base64") }, { text: TEXT }] };
    for (const path of ["/v1/converse", "/v1/converse/stream"]) {
      const leaving = new AbortController();
      const left = client.post(path, { ...body, params: TEMPERATURE_0 }, leaving.signal);
      await until("the analysis to start", () => pool.stats().open === 1);
      leaving.abort(new Error("gone"));
      await assert.rejects(left);
      await until("the analysis to stop", () => pool.stats().open === 0);
    }
    assert.equal(frames.given, given);
    assert.equal((await client.usage()).requests, requests);
    const stays = await okay(await client.post("/v1/converse", { ...body, params: TEMPERATURE_0 }));
    assert.deepEqual(stays.meta.voice.turns, [0]);
    const again = clientOf(server.url, server.key);
    assert.ok((await again.streamed({ ...body, params: TEMPERATURE_0 })).length > 24_000);
  });
});

function longSilence(): Buffer {
  const header = makeWav({ encoding: "s16", rateHz: 24_000, channels: [[]], dataSize: CAP_BYTES - 44 });
  return Buffer.concat([header, Buffer.alloc(CAP_BYTES - 44)]);
}
