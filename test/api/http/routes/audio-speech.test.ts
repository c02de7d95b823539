import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { decodeWav } from "../../../../src/audio/decode-wav.ts";
import { FORMATS_WITH_LENGTH, SPEECH_FORMATS } from "../../../../src/contract/audio-speech.ts";
import type { Script } from "../../../../src/core/script.ts";
import { EMBEDDED_VOICES } from "../../../../src/models/public-models.ts";
import { decode } from "../../../audio/encode/decoders.ts";
import { decoded } from "../../../audio/recordings/decoded.ts";
import { createToneModel } from "../../../core/tone-model.ts";
import { until } from "../../../waiting.ts";
import { startTestServer, type TestServer } from "../start.ts";
import { toldTones } from "../told-tones.ts";
import { dataOf, pcmOf, type Reply } from "../wire.ts";

const PATH = "/v1/audio/speech";
const INPUT = "One way. Two ways. Three ways.";

let server: TestServer;
const scripts: Script[] = [];
before(async () => {
  server = await startTestServer({ checkpoints: [toldTones(scripts)] });
});
after(() => server.stop());

const speak = (fields: object = {}) => server.post(PATH, { model: "tts-1", input: INPUT, ...fields });
const bytesOf = async (reply: Reply) => Buffer.from(await reply.arrayBuffer());

async function refused(fields: object, status: number, message: RegExp): Promise<void> {
  const reply = await speak(fields);
  assert.equal(reply.status, status, JSON.stringify(fields));
  const { error } = await reply.json();
  assert.equal(error.type, "invalid_request");
  assert.match(error.message, message);
  assert.equal(error.request_id, reply.headers.get("x-request-id"));
}

describe("speech for clients of OpenAI's API", () => {
  test("is an MP3 when no format is named, as long as what /v1/tts says", async () => {
    const whole = pcmOf((await (await server.post("/v1/tts", { text: INPUT })).json()).audio.data_b64);
    const reply = await speak();
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("content-type"), "audio/mpeg");
    const { samples, rateHz } = await decode("mp3", await bytesOf(reply));
    assert.equal(rateHz, 24_000);
    assert.ok(samples.length >= whole.length / 2 + 1_105 && samples.length <= whole.length / 2 + 3_600);
  });

  test("is one complete WAV when that is asked for, metered like any other", async (t) => {
    const own = await startTestServer();
    t.after(() => own.stop());
    const reply = await own.post(PATH, {
      model: "svc-atom-beta-v0.1",
      input: "Grüße 🎉.",
      voice: "1",
      response_format: "wav",
    });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("content-type"), "audio/wav");
    assert.match(reply.headers.get("x-request-id") ?? "", /^req_/);
    assert.equal(reply.headers.get("x-ratelimit-remaining"), "99999", "it takes a token");
    const file = await bytesOf(reply);
    assert.equal(reply.headers.get("content-length"), `${file.length}`);
    assert.equal(file.readUInt32LE(40), file.length - 44);
    const { sampleRateHz, durationS } = decodeWav(file);
    assert.equal(sampleRateHz, 24_000);
    const usage = await (await own.get("/v1/usage")).json();
    assert.deepEqual([usage.requests, usage.input_chars, usage.output_audio_seconds], [1, 8, durationS]);
  });

  test("is as many samples by every format, and as many as from /v1/tts", async () => {
    const whole = pcmOf((await (await server.post("/v1/tts", { text: INPUT })).json()).audio.data_b64);
    const pcm = await speak({ response_format: "pcm" });
    assert.equal(pcm.headers.get("content-type"), "audio/pcm");
    assert.equal(pcm.headers.get("cache-control"), "no-cache, no-transform");
    assert.equal((await bytesOf(pcm)).length, whole.length);
    assert.equal((await bytesOf(await speak({ response_format: "wav" }))).length, 44 + whole.length);

    const open = await bytesOf(await speak({ response_format: "wav", stream_format: "audio" }));
    assert.equal(open.readUInt32LE(4), 0xffff_ffff, "a WAV that is streamed cannot know its size");
    assert.equal(open.readUInt32LE(40), 0xffff_ffff);
    assert.equal(decodeWav(open).samples.length, whole.length / 2);
  });

  test("is the same file as bytes, in one piece and in events, in every format and by its own type", async (t) => {
    const own = await startTestServer();
    t.after(() => own.stop());
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
      const asked = { model: "tts-1", input: INPUT, response_format: format };
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
        const heardS = samples.length / rateHz;
        assert.ok(heardS >= seconds && heardS < seconds + (format === "mp3" ? 0.15 : 0.001), `${heardS} s`);
        // Delivery varies, and with it what a codec takes for it, where it takes no more than it needs.
        if (format !== "opus" && format !== "flac") assert.equal(file.length, whole.length, format);
      }
    }
    const flac = await bytesOf(
      await own.post(PATH, { model: "tts-1", input: INPUT, response_format: "flac" }),
    );
    assert.equal(Number(flac.readBigUInt64BE(18) & 0xf_ffff_ffffn), seconds * 24_000, "its length is told");
  });

  test("says so where one file may not be as long as the input takes, and streams all of it", async () => {
    const tone = await createToneModel();
    let isSlow = true;
    const load = async () => ({
      speak: (script: Script, signal: AbortSignal) =>
        tone.speak({ ...script, delivery: { ...script.delivery, maxFrames: isSlow ? 16 : 99_999 } }, signal),
      close: async () => {},
    });
    const own = await startTestServer({ checkpoints: [{ name: "heart", memoryBytes: 1, load }] });
    try {
      const asked = { model: "tts-1", input: INPUT, response_format: "flac" };
      assert.equal((await own.post(PATH, asked)).headers.get("x-antiphon-stop"), "length");
      const events = await dataOf(await own.post(PATH, { ...asked, stream_format: "sse" }));
      assert.equal(events.at(-1).stop, "length");
      isSlow = false;
      assert.equal((await own.post(PATH, asked)).headers.get("x-antiphon-stop"), null);
    } finally {
      await own.stop();
    }
    await bytesOf(await speak({ response_format: "flac" }));
    assert.equal(scripts.at(-1)?.delivery.maxFrames, 8_192);
    await bytesOf(await speak());
    assert.equal(scripts.at(-1)?.delivery.maxFrames, 65_536);
  });

  test("comes as events with OpenAI's names, which joined are the file, and end in usage", async () => {
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
      const bytes =
        Buffer.concat(events.map(({ audio }) => Buffer.from(audio, "base64"))).length - headerBytes;
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
    const said: [unknown, string][] = [
      [undefined, "0"],
      ["1", "1"],
      ["nova", "0"],
      ["Nova", "0"],
      ["ECHO", "1"],
      [{ id: "Echo" }, "1"],
      ["echo", "1"],
      [{ id: "echo" }, "1"],
      [{ id: "0" }, "0"],
    ];
    for (const [voice, speaker] of said) {
      await bytesOf(await speak({ voice, response_format: "pcm" }));
      assert.equal(scripts.at(-1)?.speaker, speaker, JSON.stringify(voice));
    }
  });

  test("takes OpenAI's model names for the default model, and reads fields that it has no use for", async () => {
    for (const model of [
      "svc-beta-v0.3",
      "tts-1",
      "tts-1-hd",
      "gpt-4o-mini-tts",
      "gpt-4o-mini-tts-2025-12-15",
    ]) {
      const asked = { model, response_format: "pcm", instructions: "Whisper.", anything: null };
      const reply = await speak(asked);
      assert.equal(reply.status, 200, model);
      await bytesOf(reply);
      assert.equal(scripts.at(-1)?.preset.liveliness, 1, `${model} is the default model`);
    }
  });

  test("is faster and slower as far as the voice stays intelligible", async () => {
    for (const speed of [0.5, 0.7, 1.25, 2]) {
      await bytesOf(await speak({ speed, response_format: "pcm" }));
      assert.equal(scripts.at(-1)?.preset.rate, speed);
    }
    await bytesOf(await speak({ speed: 1, response_format: "pcm" }));
    assert.equal(scripts.at(-1)?.preset.rate, undefined);
    await refused({ speed: 4.1 }, 422, /^speed must be at most 4$/);
    await refused({ speed: "1" }, 422, /^speed must be a number$/);
  });

  test("takes the nearest speed to one that would be hard to understand, and says so in a header", async () => {
    for (const more of [{}, { response_format: "wav" }, { stream_format: "sse" }]) {
      for (const [speed, spoken] of [
        [0.25, 0.5],
        [0.49, 0.5],
        [4, 2],
      ]) {
        const reply = await speak({ speed, ...more });
        assert.equal(reply.headers.get("x-antiphon-speed"), `${spoken}`);
        await bytesOf(reply);
        assert.equal(scripts.at(-1)?.preset.rate, spoken);
      }
      const reply = await speak({ speed: 2, ...more });
      assert.equal(reply.headers.get("x-antiphon-speed"), null, "as it was asked for");
      await bytesOf(reply);
    }
  });

  test("takes null for every field that may be left out", async () => {
    const unset = ["model", "voice", "response_format", "speed", "stream_format", "lexicon", "instructions"];
    const reply = await speak(Object.fromEntries(unset.map((name) => [name, null])));
    assert.equal(reply.status, 200, await reply.clone().text());
    assert.equal(reply.headers.get("content-type"), "audio/mpeg");
    await bytesOf(reply);
    const { speaker, preset } = scripts.at(-1)!;
    assert.deepEqual([speaker, preset.liveliness, preset.rate], ["0", 1, undefined]);
    await refused({ input: null }, 422, /^input must be a string$/);
    await refused({ voice: { id: null } }, 422, /^voice\.id must be a string$/);
    await refused({ lexicon: { SQL: null } }, 422, /^lexicon\["SQL"\] must be a string$/);
  });

  test("is 0.2 s of silence in any format where there are no words, metered as it was heard", async (t) => {
    const own = await startTestServer({ tone: { failAtFrame: 0 } });
    t.after(() => own.stop());
    for (const input of ["🎉🎉", "— … —", "?!", "*"]) {
      const asked = { model: "tts-1", input, response_format: "pcm" };
      const pcm = await bytesOf(await own.post(PATH, asked));
      assert.deepEqual([pcm.length, pcm.some((byte) => byte !== 0)], [9_600, false], input);
    }
    for (const format of SPEECH_FORMATS) {
      for (const stream_format of [undefined, "audio"]) {
        const asked = { model: "tts-1", input: "🎉", response_format: format, stream_format };
        const file = await bytesOf(await own.post(PATH, asked));
        // Others' decoder for browsers loses a last frame that is one value alone.
        const { samples, ...heard } = await (format === "flac" ? decoded(file, 10) : decode(format, file));
        const rateHz = "rateHz" in heard ? heard.rateHz : heard.sampleRateHz;
        const heardS = samples.length / rateHz;
        assert.ok(heardS >= 0.2 && heardS < (format === "mp3" ? 0.36 : 0.201), `${format}: ${heardS} s`);
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

  test("says which formats there are when another is asked for", async () => {
    for (const format of ["aac", "ogg", "MP3", ""]) {
      for (const more of [{}, { stream_format: "sse" }]) {
        await refused(
          { response_format: format, ...more },
          400,
          /^response_format "\w*" is not made here: ask for one of mp3, opus, flac, wav, pcm, mulaw, alaw$/,
        );
      }
    }
  });

  test("names the field that is wrong, in this API's words", async () => {
    await refused({ input: undefined }, 422, /^input is missing/);
    await refused({ input: "" }, 422, /^input must have at least 1 character$/);
    await refused({ input: "x".repeat(4_097) }, 422, /^input must have at most 4096 characters$/);
    await refused({ input: " " }, 400, /^input is empty/);
    await refused({ model: "gpt-4" }, 400, /^model "gpt-4" is unknown/);
    await refused(
      { voice: "bob" },
      400,
      /^voice "bob" is unknown: the voices are "0" \(or alloy, nova\), "1" \(or echo\), /,
    );
    await refused({ voice: 1 }, 422, /^voice must be a string or an object$/);
    await refused({ voice: {} }, 422, /^voice\.id is missing/);
    await refused({ stream_format: "chunks" }, 422, /^stream_format must be one of audio, sse$/);
  });

  test("wants a key, and a body of no more than it can use", async () => {
    assert.equal(
      (await server.post(PATH, { model: "tts-1", input: INPUT }, { Authorization: "" })).status,
      401,
    );
    assert.equal((await server.get(PATH)).status, 405);
    await refused({ instructions: "x".repeat(600_000) }, 400, /over the cap of 524288 bytes/);
  });

  test("lists its voices, each of which it speaks", async () => {
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
        // A label stands for its voice without any more said.
        const meant = ["0", "1"].includes(id) ? [id, undefined] : ["0", [{ weight: 1, id }]];
        assert.deepEqual([speaker, chosen], meant, voice);
      }
    }
  });
});

describe("speech that fails or is left", () => {
  const body = { model: "tts-1", input: INPUT };

  test("is an ordinary error before the first frame", async () => {
    const early = await startTestServer({ tone: { failAtFrame: 0 } });
    try {
      for (const fields of [
        {},
        { response_format: "pcm" },
        { stream_format: "audio" },
        { stream_format: "sse" },
      ]) {
        const reply = await early.post(PATH, { ...body, ...fields });
        assert.equal(reply.status, 502, JSON.stringify(fields));
        assert.equal((await reply.json()).error.type, "inference_error");
      }
    } finally {
      await early.stop();
    }
  });

  test("is never a file that looks whole, and commits nothing", async () => {
    const late = await startTestServer({ tone: { failAtFrame: 3 } });
    try {
      const cut = async () => bytesOf(await late.post(PATH, { ...body, response_format: "pcm" }));
      await assert.rejects(cut);
      const events = await dataOf(await late.post(PATH, { ...body, stream_format: "sse" }));
      assert.equal(events.at(-1).error.type, "inference_error");
      assert.equal((await (await late.get("/v1/usage")).json()).requests, 0);
    } finally {
      await late.stop();
    }
  });

  for (const format of ["mp3", "opus", "flac"]) {
    test(`frees what makes ${format} when its listener leaves, who is metered for what went into it`, async () => {
      const own = await startTestServer({
        tone: { beforeFrame: (index) => (index === 5 ? new Promise<void>(() => {}) : undefined) },
      });
      try {
        const leaving = new AbortController();
        const reply = await fetch(own.url + PATH, {
          method: "POST",
          headers: { "X-API-Key": own.key, "Content-Type": "application/json" },
          body: JSON.stringify({ ...body, response_format: format, stream_format: "audio" }),
          signal: leaving.signal,
        });
        await reply.body?.getReader().read();
        leaving.abort();
        const usage = async () => (await own.get("/v1/usage")).json();
        await until("the usage", async () => (await usage()).requests === 1);
        assert.equal((await usage()).output_audio_seconds, 5 * 0.08);
        assert.equal(await own.begun(), 0);
      } finally {
        await own.stop();
      }
    });
  }

  test("stops the engine when its listener leaves, who is metered for what was sent", async () => {
    const own = await startTestServer({
      tone: { beforeFrame: (index) => (index === 5 ? new Promise<void>(() => {}) : undefined) },
    });
    try {
      const leaving = new AbortController();
      const reply = await fetch(own.url + PATH, {
        method: "POST",
        headers: { "X-API-Key": own.key, "Content-Type": "application/json" },
        body: JSON.stringify({ ...body, response_format: "pcm" }),
        signal: leaving.signal,
      });
      await reply.body?.getReader().read();
      leaving.abort();
      const usage = async () => (await own.get("/v1/usage")).json();
      await until("the usage", async () => (await usage()).requests === 1);
      assert.equal((await usage()).output_audio_seconds, 5 * 0.08);
    } finally {
      await own.stop();
    }
  });
});
