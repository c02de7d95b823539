import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { decodeWav } from "../../../../src/audio/decode-wav.ts";
import { loudnessOf } from "../../../../src/audio/loudness.ts";
import { fromPcm16 } from "../../../../src/audio/pcm.ts";
import { FORMATS_WITH_LENGTH, SPEECH_FORMATS } from "../../../../src/contract/audio-speech.ts";
import type { Script } from "../../../../src/core/script.ts";
import { EMBEDDED_VOICES, PUBLIC_MODELS } from "../../../../src/models/public-models.ts";
import { withVoiceManners } from "../../../../src/server/voices/server-voices.ts";
import { decode } from "../../../audio/encode/decoders.ts";
import { decoded } from "../../../audio/recordings/decoded.ts";
import { createToneModel } from "../../../core/tone-model.ts";
import { until } from "../../../waiting.ts";
import { openRaw, rawRequest } from "../raw-socket.ts";
import { frameGate, recordingTones, startForTest, startTestServer } from "../start.ts";
import { dataOf, pcmOf, type Reply } from "../wire.ts";

const PATH = "/v1/audio/speech";
const INPUT = "One way. Two ways. Three ways.";
const BODY = { model: "tts-1", input: INPUT };

const scripts: Script[] = [];
const server = await startTestServer({ checkpoints: [recordingTones(scripts)] });
after(() => server.stop());

const speak = (fields: object = {}) => server.post(PATH, { ...BODY, ...fields });
const bytesOf = async (reply: Reply) => Buffer.from(await reply.arrayBuffer());

async function refused(fields: object, status: number, message: RegExp): Promise<void> {
  const reply = await speak(fields);
  assert.equal(reply.status, status, JSON.stringify(fields));
  const { error } = await reply.json();
  assert.equal(error.type, "invalid_request");
  assert.match(error.message, message);
  assert.equal(error.request_id, reply.headers.get("x-request-id"));
}

describe("POST /v1/audio/speech", () => {
  test("returns an MP3 by default, as long as the reply of /v1/tts", async () => {
    const whole = pcmOf((await (await server.post("/v1/tts", { text: INPUT })).json()).audio.data_b64);
    const reply = await speak();
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("content-type"), "audio/mpeg");
    const { samples, rateHz } = await decode("mp3", await bytesOf(reply));
    assert.equal(rateHz, 24_000);
    assert.ok(samples.length >= whole.length / 2 + 1_105 && samples.length <= whole.length / 2 + 3_600);
  });

  test("returns one complete WAV, metered like other replies", async (t) => {
    const own = await startForTest(t);
    const fields = { model: "svc-atom-beta-v0.1", input: "Grüße 🎉.", voice: "1", response_format: "wav" };
    const reply = await own.post(PATH, fields);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("content-type"), "audio/wav");
    assert.equal(reply.headers.get("x-ratelimit-remaining"), "99999");
    const file = await bytesOf(reply);
    assert.equal(reply.headers.get("content-length"), `${file.length}`);
    assert.equal(file.readUInt32LE(40), file.length - 44);
    const { sampleRateHz, durationS } = decodeWav(file);
    assert.equal(sampleRateHz, 24_000);
    const usage = await own.usage();
    assert.deepEqual([usage.requests, usage.input_chars, usage.output_audio_seconds], [1, 8, durationS]);
  });

  test("streams a WAV with an open size, as long as the reply of /v1/tts", async () => {
    const whole = pcmOf((await (await server.post("/v1/tts", { text: INPUT })).json()).audio.data_b64);
    const reply = await speak({ response_format: "wav", stream_format: "audio" });
    assert.equal(reply.headers.get("cache-control"), "no-cache, no-transform");
    const open = await bytesOf(reply);
    assert.deepEqual([open.readUInt32LE(4), open.readUInt32LE(40)], [0xffff_ffff, 0xffff_ffff]);
    assert.equal(decodeWav(open).samples.length, whole.length / 2);
  });

  test("returns the same file whole, streamed and as events, in every format", async (t) => {
    const own = await startForTest(t);
    const types = {
      mp3: "audio/mpeg",
      opus: "audio/ogg; codecs=opus",
      flac: "audio/flac",
      wav: "audio/wav",
      pcm: "audio/pcm",
      mulaw: "audio/basic",
      alaw: "audio/PCMA",
    };
    const seconds = ([...INPUT].length * 1_440) / 24_000;
    for (const format of SPEECH_FORMATS) {
      const asked = { ...BODY, response_format: format };
      const plain = await own.post(PATH, asked);
      assert.equal(plain.headers.get("content-type"), types[format]);
      assert.equal(plain.headers.has("content-length"), FORMATS_WITH_LENGTH.has(format), format);
      const whole = await bytesOf(plain);
      const streamed = await bytesOf(await own.post(PATH, { ...asked, stream_format: "audio" }));
      const events = await dataOf(await own.post(PATH, { ...asked, stream_format: "sse" }));
      assert.equal(events.pop().type, "speech.audio.done");
      const joined = Buffer.concat(events.map(({ audio }) => Buffer.from(audio, "base64")));
      for (const file of [whole, streamed, joined]) {
        const { samples, rateHz } = await decode(format, file);
        const durationS = samples.length / rateHz;
        assert.ok(
          durationS >= seconds && durationS < seconds + (format === "mp3" ? 0.15 : 0.001),
          `${durationS} s`,
        );
        // Delivery varies, and with it the size of variable-rate codecs.
        if (format !== "opus" && format !== "flac") assert.equal(file.length, whole.length, format);
      }
      if (format === "flac")
        assert.equal(
          Number(whole.readBigUInt64BE(18) & 0xf_ffff_ffffn),
          seconds * 24_000,
          "its header has its length",
        );
    }
  });

  test("reports a file that is cut at the format's maximum, and streams all of it", async (t) => {
    const tone = await createToneModel();
    let isSlow = true;
    const load = async () => ({
      speak: (script: Script, signal: AbortSignal) =>
        tone.speak({ ...script, delivery: { ...script.delivery, maxFrames: isSlow ? 16 : 99_999 } }, signal),
      close: async () => {},
    });
    const own = await startForTest(t, { checkpoints: [{ name: "heart", memoryBytes: 1, load }] });
    const asked = { ...BODY, response_format: "flac" };
    assert.equal((await own.post(PATH, asked)).headers.get("x-antiphon-stop"), "length");
    const events = await dataOf(await own.post(PATH, { ...asked, stream_format: "sse" }));
    assert.equal(events.at(-1).stop, "length");
    isSlow = false;
    assert.equal((await own.post(PATH, asked)).headers.get("x-antiphon-stop"), null);
    await bytesOf(await speak({ response_format: "flac" }));
    assert.equal(scripts.at(-1)?.delivery.maxFrames, 8_192);
    await bytesOf(await speak());
    assert.equal(scripts.at(-1)?.delivery.maxFrames, 65_536);
  });

  test("streams OpenAI's events, which join to the file and end in usage", async () => {
    for (const [format, headerBytes] of [
      ["pcm", 0],
      ["wav", 44],
    ] as const) {
      const reply = await speak({ response_format: format, stream_format: "sse" });
      assert.equal(reply.headers.get("content-type"), "text/event-stream; charset=utf-8");
      const events = await dataOf(reply);
      const { type, usage, stop, words } = events.pop();
      assert.deepEqual([type, stop], ["speech.audio.done", "finished"]);
      assert.ok(words.length > 0);
      assert.deepEqual(
        events.flatMap((event) => event.words ?? []),
        words,
      );
      assert.ok(events.every((event) => event.type === "speech.audio.delta"));
      const file = Buffer.concat(events.map(({ audio }) => Buffer.from(audio, "base64")));
      const bytes = file.length - headerBytes;
      const frames = Math.ceil(bytes / 3_840);
      assert.deepEqual(usage, {
        input_chars: INPUT.length,
        input_audio_seconds: 0,
        output_audio_seconds: bytes / 48_000,
        input_tokens: INPUT.length,
        output_tokens: frames,
        total_tokens: INPUT.length + frames,
      });
    }
  });

  test("takes labels, OpenAI's voice names and voice objects", async () => {
    for (const speaker of ["0", "1"])
      for (const name of speaker === "0" ? ["nova", "Nova"] : ["ECHO", "Echo", "echo"])
        for (const voice of [speaker, name, { id: name }, { id: speaker }]) {
          await bytesOf(await speak({ voice, response_format: "pcm" }));
          assert.equal(scripts.at(-1)?.speaker, speaker, JSON.stringify(voice));
        }
  });

  test("takes OpenAI's model names for the default model, and ignores unknown fields", async () => {
    for (const model of [
      "svc-beta-v0.3",
      "tts-1",
      "tts-1-hd",
      "gpt-4o-mini-tts",
      "gpt-4o-mini-tts-2025-12-15",
    ]) {
      const reply = await speak({ model, response_format: "pcm", instructions: "Whisper.", anything: null });
      assert.equal(reply.status, 200, model);
      await bytesOf(reply);
      assert.equal(scripts.at(-1)?.preset.liveliness, 1, `${model} is the default model`);
    }
  });

  test("takes a speed up to 4, spoken from 0.5 to 2 and reported in a header if clamped", async () => {
    for (const [speed, rate, header] of [
      [0.25, 0.5, "0.5"],
      [0.49, 0.5, "0.5"],
      [0.5, 0.5, null],
      [0.7, 0.7, null],
      [1, undefined, null],
      [2, 2, null],
      [4, 2, "2"],
    ] as const)
      for (const format of [{}, { response_format: "wav" }, { stream_format: "sse" }]) {
        const reply = await speak({ speed, ...format });
        assert.equal(reply.headers.get("x-antiphon-speed"), header);
        await bytesOf(reply);
        assert.equal(scripts.at(-1)?.preset.rate, rate);
      }
  });

  test("takes null for every optional field", async () => {
    const unset = ["model", "voice", "response_format", "speed", "stream_format", "lexicon", "instructions"];
    const reply = await speak(Object.fromEntries(unset.map((name) => [name, null])));
    assert.equal(reply.status, 200, await reply.clone().text());
    assert.equal(reply.headers.get("content-type"), "audio/mpeg");
    await bytesOf(reply);
    const { speaker, preset } = scripts.at(-1)!;
    assert.deepEqual([speaker, preset.liveliness, preset.rate], ["0", 1, undefined]);
  });

  test("returns 0.2 s of silence for a text without words, in every format", async (t) => {
    const own = await startForTest(t, { tone: { failAtFrame: 0 } });
    for (const input of ["🎉🎉", "— … —", "?!", "*"]) {
      const asked = { model: "tts-1", input, response_format: "pcm" };
      const pcm = await bytesOf(await own.post(PATH, asked));
      assert.deepEqual([pcm.length, pcm.some((byte) => byte !== 0)], [9_600, false], input);
    }
    for (const format of SPEECH_FORMATS) {
      for (const stream_format of [undefined, "audio"]) {
        const asked = { model: "tts-1", input: "🎉", response_format: format, stream_format };
        const file = await bytesOf(await own.post(PATH, asked));
        // The browser decoder drops a last frame of a single value.
        const { samples, ...decodedAs } = await (format === "flac"
          ? decoded(file, 10)
          : decode(format, file));
        const rateHz = "rateHz" in decodedAs ? decodedAs.rateHz : decodedAs.sampleRateHz;
        const durationS = samples.length / rateHz;
        assert.ok(
          durationS >= 0.2 && durationS < (format === "mp3" ? 0.36 : 0.201),
          `${format}: ${durationS} s`,
        );
        assert.ok(
          samples.every((value) => Math.abs(value) < 1e-3),
          format,
        );
      }
    }
    const asked = { model: "tts-1", input: "🎉", response_format: "pcm", stream_format: "sse" };
    const { stop, usage } = (await dataOf(await own.post(PATH, asked))).pop();
    assert.deepEqual([stop, usage.input_chars, usage.output_audio_seconds], ["finished", 1, 0.2]);
  });

  test("names the wrong field", async () => {
    const formats =
      /^response_format "\w*" is not made here: ask for one of mp3, opus, flac, wav, pcm, mulaw, alaw$/;
    const cases: [object, number, RegExp][] = [
      [{ input: undefined }, 422, /^input is missing/],
      [{ input: null }, 422, /^input must be a string$/],
      [{ input: "" }, 422, /^input must have at least 1 character$/],
      [{ input: "x".repeat(100_001) }, 400, /^input must have at most 100000 characters$/],
      [
        { input: "x ".repeat(2_049), response_format: "wav" },
        400,
        /a whole wav holds 4096: set stream_format/,
      ],
      [{ loudness: -9 }, 422, /^loudness must be at most -10$/],
      [{ input: " " }, 400, /^input is empty/],
      [{ model: "gpt-4" }, 400, /^model "gpt-4" is unknown/],
      [{ voice: "bob" }, 400, /^voice "bob" is unknown: the voices are maya, theo, greta, /],
      [{ voice: 1 }, 422, /^voice must be a string or an object$/],
      [{ voice: {} }, 422, /^voice\.id is missing/],
      [{ voice: { id: null } }, 422, /^voice\.id must be a string$/],
      [{ lexicon: { SQL: null } }, 422, /^lexicon\["SQL"\] must be a string$/],
      [{ speed: 4.1 }, 422, /^speed must be at most 4$/],
      [{ speed: "1" }, 422, /^speed must be a number$/],
      [{ stream_format: "chunks" }, 422, /^stream_format must be one of audio, sse$/],
      [{ response_format: "ogg" }, 400, formats],
      [{ response_format: "" }, 400, formats],
      [{ response_format: "aac", stream_format: "sse" }, 400, formats],
      [{ instructions: "x".repeat(600_000) }, 422, /^instructions must have at most 4096 char/],
    ];
    for (const [fields, status, message] of cases) await refused(fields, status, message);
  });

  test("speaks every voice that GET /v1/audio/voices lists", async () => {
    const { data, voices } = await (await server.get("/v1/audio/voices")).json();
    assert.deepEqual(
      data.map(({ id }: { id: string }) => id),
      EMBEDDED_VOICES.map(({ id }) => id),
    );
    const names = data.flatMap(({ id, aliases }: { id: string; aliases: string[] }) => [id, ...aliases]);
    assert.deepEqual(voices.map(({ id }: { id: string }) => id).sort(), names.sort());
    assert.equal(voices.find(({ id }: { id: string }) => id === "alloy").name, "Alloy");
    for (const { id, aliases } of data) {
      for (const voice of [id, ...aliases]) {
        await bytesOf(await speak({ voice, input: "Hi." }));
        const { voice: chosen, speaker } = scripts.at(-1)!;
        // A label selects its voice through the speaker alone.
        const meant = ["0", "1"].includes(id) ? [id, undefined] : ["0", [{ weight: 1, id }]];
        assert.deepEqual([speaker, chosen], meant, voice);
      }
    }
  });
  test("returns 502 for a failure before the first frame", async (t) => {
    const early = await startForTest(t, { tone: { failAtFrame: 0 } });
    for (const fields of [
      {},
      { response_format: "pcm" },
      { stream_format: "audio" },
      { stream_format: "sse" },
    ]) {
      const reply = await early.post(PATH, { ...BODY, ...fields });
      assert.equal(reply.status, 502, JSON.stringify(fields));
      assert.equal((await reply.json()).error.type, "inference_error");
    }
  });

  test("breaks off a file that fails later, and commits nothing", async (t) => {
    const late = await startForTest(t, { tone: { failAtFrame: 3 } });
    const cut = async () => bytesOf(await late.post(PATH, { ...BODY, response_format: "pcm" }));
    await assert.rejects(cut);
    const events = await dataOf(await late.post(PATH, { ...BODY, stream_format: "sse" }));
    assert.equal(events.at(-1).error.type, "inference_error");
    assert.equal((await late.usage()).requests, 0);
  });

  for (const format of ["mp3", "opus", "flac", "pcm"])
    test(`stops ${format} when the client leaves, and meters what it was sent`, async (t) => {
      const own = await startForTest(t, { tone: frameGate((index) => index === 5).tone });
      const leaving = new AbortController();
      const fields = { ...BODY, response_format: format, stream_format: "audio" };
      const reply = await own.post(PATH, fields, {}, leaving.signal);
      await (reply as Response).body?.getReader().read();
      leaving.abort();
      await until("the usage", async () => (await own.usage()).requests === 1);
      assert.equal((await own.usage()).output_audio_seconds, 5 * 0.08);
      assert.equal(await own.begun(), 0);
    });

  test("speaks all of 4,096 characters, beyond max_new_tokens", async () => {
    const input = `${"A sentence of thirty letters is. ".repeat(124)}End.`;
    assert.equal(input.length, 4_096);
    const asked = { model: "tts-1", input, response_format: "pcm", stream_format: "sse", speed: 0.7 };
    const events = await dataOf(await server.post(PATH, asked));
    const { usage, stop } = events.pop();
    assert.equal(stop, "finished");
    assert.ok(usage.output_tokens > 2_048);
    assert.equal(usage.output_audio_seconds, (4_096 * 1_440) / 24_000);
  });

  test("speaks a text of 20,000 characters as events, placed in the whole text and metered once", async (t) => {
    const own = await startForTest(t);
    const sentence = "Grüße an 𝒳 alle, die hier lesen. ";
    const input = `${sentence.repeat(40)}\n\n`.repeat(15);
    const asked = { input, response_format: "mulaw", stream_format: "sse", language: "en", model: "tts-1" };
    const events = await dataOf(await own.post(PATH, asked, { "X-Antiphon-Pace": "own" }));
    const { usage, stop, words } = events.pop();
    assert.equal(stop, "finished");
    const chars = [...input];
    let [offset, start] = [-1, -1];
    for (const { word, ...at } of words) {
      assert.equal(chars.slice(at.offset, at.offset + at.length).join(""), word);
      assert.ok(at.offset > offset && at.start > start);
      [offset, start] = [at.offset, at.start];
    }
    assert.ok(
      offset > chars.length - 40 && Math.abs(usage.output_audio_seconds - start) < 5,
      `${offset}, ${start}`,
    );
    const metered = await own.usage();
    assert.deepEqual([metered.requests, metered.input_chars], [1, chars.length]);
    assert.equal(metered.output_audio_seconds, usage.output_audio_seconds);
  });

  test("reads long SSML passage by passage", async () => {
    const input = `<speak>${"<s>One sentence <emphasis>after</emphasis> another is read.</s> ".repeat(200)}</speak>`;
    const asked = { input, response_format: "pcm", stream_format: "sse" };
    const begun = scripts.length;
    const { words, stop } = (
      await dataOf(await server.post(PATH, asked, { "X-Antiphon-Pace": "own" }))
    ).pop();
    assert.equal(stop, "finished");
    assert.equal(words.length, 200 * 6);
    const { offset, length } = words.at(-1);
    assert.equal(input.slice(offset, offset + length), "read");
    assert.ok(scripts.length - begun > 1);
  });

  test("ends a long text with its client, metered for what was sent", async (t) => {
    const own = await startForTest(
      t,
      frameGate((index) => index >= 400),
    );
    const leaving = new AbortController();
    const fields = { ...BODY, input: "One way. Two ways. ".repeat(1_000), response_format: "pcm" };
    const reply = await own.post(PATH, fields, {}, leaving.signal);
    await (reply as Response).body?.getReader().read();
    leaving.abort();
    await until("the usage", async () => (await own.usage()).requests === 1);
    assert.equal(await own.begun(), 0);
  });

  test("sends speech at about the loudness asked for, the same each time", async () => {
    const asked = {
      script: `Anna: ${"One way to say this and three more. ".repeat(4)}`,
      response_format: "pcm",
    };
    const files: Buffer[] = [];
    for (const loudness of [-26, -26, null]) {
      const body = { ...asked, loudness, params: { temperature: 0 } };
      files.push(await bytesOf(await server.post("/v1/audio/dialogue", body)));
    }
    const [first, again, plain] = files as [Buffer, Buffer, Buffer];
    assert.deepEqual(first, again);
    assert.equal(first.length, plain.length);
    const [lufs, plainLufs] = [first, plain].map(
      (file) => loudnessOf(fromPcm16(new Int16Array(Uint8Array.from(file).buffer)), 24_000)!,
    ) as [number, number];
    assert.ok(Math.abs(lufs + 26) < 3 && Math.abs(plainLufs + 26) > 8, `${plainLufs}, ${lufs}`);
  });

  test("sends all of a long MP3 to a slow reader", async (t) => {
    const own = await startForTest(t);
    const { socket, received } = await openRaw(own, { isIdle: true });
    const input = "word ".repeat(800);
    socket.write(rawRequest(PATH, own.key, { model: "tts-1", input }, { Connection: "close" }));
    let bytes = received().length;
    socket.on("data", (chunk: string) => {
      bytes += Buffer.byteLength(chunk);
      socket.pause();
      setImmediate(() => socket.resume());
    });
    const over = new Promise((resolve) => socket.once("end", resolve));
    socket.resume();
    await over;
    assert.ok(bytes > 240 * 16_000, `${bytes}`);
    assert.equal((await own.usage()).output_audio_seconds, 240);
  });
});

describe("The instructions of POST /v1/audio/speech", () => {
  async function spoken(fields: object) {
    const reply = await server.post("/v1/audio/speech", { input: "One way.", ...fields });
    await reply.arrayBuffer();
    return reply;
  }

  test("become figures, and a header reports what is followed, in every format", async () => {
    const instructions = "Slowly, cheerful, like a pirate";
    for (const form of [{}, { response_format: "wav" }, { stream_format: "sse" }]) {
      const reply = await spoken({ instructions, ...form });
      assert.equal(reply.headers.get("x-antiphon-manner"), "slower, cheerful; not followed: pirate");
      const { words, figures } = scripts.at(-1)!.manner!;
      assert.equal(words, instructions);
      assert.ok(figures.tempo < 1 && figures.pitch > 1);
    }
  });

  test("are absent when omitted, null or blank", async () => {
    for (const fields of [{}, { instructions: null }, { instructions: "" }, { instructions: " \n" }]) {
      const reply = await spoken(fields);
      assert.equal(reply.headers.get("x-antiphon-manner"), null);
      assert.equal("manner" in scripts.at(-1)!, false);
    }
  });

  test("cannot inject a header", async () => {
    const hostile = "pirate\r\nSet-Cookie: a=b; \u0000 ünïcödé 🏴‍☠️ <script>, slow";
    const reply = await spoken({ instructions: hostile });
    assert.equal(reply.status, 200);
    assert.match(reply.headers.get("x-antiphon-manner") ?? "", /^slower; not followed: [a-zA-Z ,]+$/);
    assert.equal(reply.headers.get("set-cookie"), null);
  });

  test("are a string of at most 4,096 characters", async () => {
    assert.equal((await spoken({ instructions: "𝒳".repeat(4_096) })).status, 200);
    assert.equal((await spoken({ instructions: "x".repeat(4_097) })).status, 422);
    assert.equal((await spoken({ instructions: ["slow"] })).status, 422);
  });

  test("are the same when a thread parses the body", async () => {
    const input = "é".repeat(4_096);
    const body = JSON.stringify({ input, instructions: "Calm.", padding: "x".repeat(70_000) });
    const reply = await server.post("/v1/audio/speech", body);
    await reply.arrayBuffer();
    assert.equal(reply.headers.get("x-antiphon-manner"), "calm");
    assert.equal(scripts.at(-1)?.manner?.words, "Calm.");
  });

  test("default to those of the voice's setting", async (t) => {
    const models = withVoiceManners(PUBLIC_MODELS, { voices: { echo: { instructions: "calm" } } });
    const own = await startForTest(t, { checkpoints: [recordingTones(scripts)], models });
    for (const [fields, words, path] of [
      [{ input: "One.", voice: "echo" }, "calm", PATH],
      [{ input: "One.", voice: "echo", instructions: "sad" }, "sad", PATH],
      [{ input: "One.", voice: "nova" }, undefined, PATH],
      [{ text: "One.", speaker: "1" }, "calm", "/v1/tts"],
    ] as const) {
      const reply = await own.post(path, fields);
      await reply.arrayBuffer();
      assert.equal(reply.status, 200);
      assert.equal(scripts.at(-1)?.manner?.words, words);
    }
  });

  test("are reported as ignored by a model without them", async (t) => {
    const models = PUBLIC_MODELS.map((model) => ({
      ...model,
      card: { ...model.card, takes: { mixes: false, samples: false } },
    }));
    const own = await startForTest(t, { models });
    const reply = await own.post(PATH, { input: "One way.", instructions: "Slowly." });
    await reply.arrayBuffer();
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("x-antiphon-manner"), "none; not followed: slower");
  });
});
