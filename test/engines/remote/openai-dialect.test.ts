import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { after, describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { wavHeader } from "../../../src/audio/encode-wav.ts";
import { toPcm16 } from "../../../src/audio/pcm.ts";
import { resample } from "../../../src/audio/resample.ts";
import { SpeechFailedError } from "../../../src/core/speech-model.ts";
import {
  bytesOf,
  LONG_TEXT,
  never,
  SHORT_TEXT,
  type Spoken,
  scriptOf,
  speakAll,
} from "../../core/scripts.ts";
import { until } from "../../waiting.ts";
import { remoteModel } from "./remote-model.ts";
import {
  type Answer,
  bytes,
  inPieces,
  SpeechServer,
  speech,
  streamedWav,
  tonePcm,
  UPSTREAM_SECRET,
} from "./speech-server.ts";

const server = await SpeechServer.open();
after(() => server.close());

type Options = Partial<Parameters<typeof remoteModel>[0]>;

async function spoken(
  answer: Answer,
  options: Options = {},
  maxFrames = 512,
  text = LONG_TEXT,
): Promise<Spoken> {
  server.answers(answer);
  const model = remoteModel({ urls: [server.url], firstSoundTimeoutMs: 20_000, ...options });
  try {
    return await speakAll(model, { text, delivery: { maxFrames } });
  } finally {
    await model.close();
  }
}

async function failure(answer: Answer, options: Options = {}): Promise<string> {
  const error = await spoken(answer, options).then(
    () => assert.fail("no failure"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof SpeechFailedError, String(error));
  assert.ok(!error.message.includes(UPSTREAM_SECRET), error.message);
  assert.ok(error.message.startsWith(`elsewhere: ${server.host} `), error.message);
  return error.message.slice(`elsewhere: ${server.host} `.length);
}

/** All samples as 16-bit integers. */
function pcmOf({ frames }: Spoken): Int16Array {
  return toPcm16(new Float32Array(Uint8Array.from(bytesOf(frames)).buffer));
}

function samplesOf(pcm: Buffer): Int16Array {
  return new Int16Array(Uint8Array.from(pcm).buffer);
}

const TONE = tonePcm(11.03);

describe("The OpenAI dialect", () => {
  test("decodes WAV of unknown or known length, and raw samples, alike", async () => {
    const known = Buffer.concat([wavHeader(TONE.length, 24_000), TONE]);
    for (const answer of [bytes(streamedWav(TONE)), bytes(known)])
      assert.deepEqual(pcmOf(await spoken(answer)), samplesOf(TONE));
    const raw = bytes(TONE, "audio/pcm");
    assert.deepEqual(pcmOf(await spoken(raw, { format: "pcm" })), samplesOf(TONE));
    // A WAV is accepted where raw samples were requested.
    assert.deepEqual(pcmOf(await spoken(bytes(streamedWav(TONE)), { format: "pcm" })), samplesOf(TONE));
    const untyped = await spoken(bytes(streamedWav(TONE), "application/octet-stream"));
    assert.deepEqual(pcmOf(untyped), samplesOf(TONE));
  });

  test("decodes chunks of any size alike", async () => {
    for (const lengths of [[1], [3, 7, 1, 4_801], [3_840], [65_537]]) {
      const short = TONE.subarray(0, lengths[0] === 1 ? 8_001 : TONE.length);
      server.answers(inPieces(streamedWav(short), lengths));
      const model = remoteModel({ urls: [server.url] });
      const whole = samplesOf(short.subarray(0, short.length - (short.length % 2)));
      assert.deepEqual(pcmOf(await speakAll(model, { text: "Hm." })), whole, `${lengths}`);
      await model.close();
    }
  });

  for (const rateHz of [8_000, 16_000, 22_050, 44_100, 48_000]) {
    test(`resamples ${rateHz} Hz to 24,000`, async () => {
      const pcm = tonePcm(3.017, rateHz);
      const got = await spoken(inPieces(streamedWav(pcm, rateHz), [4_099]), {}, 512, SHORT_TEXT);
      const floats = Float32Array.from(samplesOf(pcm), (value) => value / 32_767);
      assert.deepEqual(pcmOf(got), toPcm16(resample(floats, rateHz, 24_000)));
      const asPcm = { format: "pcm", sampleRateHz: rateHz } as const;
      const raw = await spoken(bytes(pcm, "audio/pcm"), asPcm, 512, SHORT_TEXT);
      assert.deepEqual(pcmOf(raw), pcmOf(got));
    });
  }

  test("mixes two channels", async () => {
    const mono = tonePcm(11);
    const left = Buffer.alloc(2 * mono.length);
    for (let at = 0; at < mono.length / 2; at += 1) left.writeInt16LE(mono.readInt16LE(2 * at), 4 * at);
    const half = Int16Array.from(samplesOf(mono), (value) => Math.round(value / 2));
    const got = pcmOf(await spoken(inPieces(streamedWav(left, 24_000, 2), [4_097])));
    assert.equal(got.length, half.length);
    assert.ok(got.every((value, at) => Math.abs(value - half[at]!) <= 1));
  });

  test("skips unknown chunks and what follows the samples", async () => {
    const chunk = (id: string, size: number) => {
      const head = Buffer.from(`${id}\0\0\0\0`);
      head.writeUInt32LE(size, 4);
      return Buffer.concat([head, Buffer.alloc(size + (size % 2), 0x7f)]);
    };
    const head = Buffer.from(wavHeader(TONE.length, 24_000));
    const odd = Buffer.concat([
      head.subarray(0, 12),
      chunk("LIST", 27),
      head.subarray(12, 36),
      chunk("fact", 4),
      head.subarray(36),
      TONE,
      chunk("LIST", 2_000),
    ]);
    // Small writes up to the samples.
    const finely = [...Array.from({ length: 60 }, () => [5, 1]).flat(), odd.length];
    assert.deepEqual(pcmOf(await spoken(inPieces(odd, finely))), samplesOf(TONE));
  });

  test("stops endless speech at maxFrames, and disconnects", async () => {
    const endless: Answer = ({ response }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write(streamedWav(Buffer.alloc(0)));
      const more = (): void => {
        if (!response.destroyed) response.write(tonePcm(1), more);
      };
      more();
    };
    const { frames, report } = await spoken(endless, {}, 40);
    assert.deepEqual({ ...report, frames: frames.length }, { stop: "length", spoken: LONG_TEXT, frames: 40 });
    await until("the connection to be closed", () => server.asked[0]?.hasLeft() === true);
  });

  test("reads at most 128 KiB ahead of its listener", async () => {
    let request: ClientRequest | null = null;
    const onStart = (message: unknown) => {
      request = (message as { request: ClientRequest }).request;
    };
    subscribe("http.client.request.start", onStart);
    server.answers(bytes(streamedWav(tonePcm(60))));
    const model = remoteModel({ urls: [server.url] });
    const speaking = model.speak(scriptOf({ text: LONG_TEXT }), never());
    await speaking.next();
    unsubscribe("http.client.request.start", onStart);
    const readBytes = () => request?.socket?.bytesRead ?? 0;
    const before = readBytes();
    // Without the limit, so many turns read megabytes.
    for (let turns = 0; turns < 200; turns += 1) await turn();
    assert.ok(before > 0 && readBytes() <= 2 * 65_536, `${before}, then ${readBytes()} bytes`);
    await speaking.return({ stop: "finished", spoken: "" });
    await model.close();
  });

  const wav8 = Buffer.concat([
    wavHeader(24_000, 24_000, { bytesPerSample: 1, channels: 1 }),
    Buffer.alloc(24_000),
  ]);
  const json = Buffer.from(JSON.stringify({ error: UPSTREAM_SECRET }));
  const page = Buffer.from(`<!doctype html><title>${UPSTREAM_SECRET}</title>`);
  const wrong: readonly [what: string, answer: Answer, message: RegExp, options?: Options][] = [
    ["a page", bytes(page, "text/html; charset=utf-8"), /^answered with text instead of audio: check urls/],
    ["JSON", bytes(json, "application/json"), /^answered with text instead of audio/],
    ["events", bytes(json, "text/event-stream"), /^answered with text instead of audio/],
    ["JSON typed as WAV", bytes(json), /^sent no WAV: set format to pcm/],
    ["JSON typed as samples", bytes(json, "audio/pcm"), /^sent text instead of audio/, { format: "pcm" }],
    ["an untyped page", bytes(page, ""), /^sent text instead of audio/, { format: "pcm" }],
    ["MP3", bytes(TONE, "audio/mpeg"), /^sent compressed audio instead of wav or pcm/],
    ["raw samples instead of a WAV", bytes(TONE, "audio/pcm"), /^sent no WAV: set format to pcm/],
    ["an 8-bit WAV", bytes(wav8), /^sent undecodable audio: its samples are not 16-bit \(u8\)/],
    [
      "a WAV with six channels",
      bytes(streamedWav(TONE, 24_000, 6)),
      /^sent undecodable audio: it has 6 channels, and one or two are taken/,
    ],
    [
      "a WAV at 192 kHz",
      bytes(streamedWav(TONE, 192_000)),
      /^sent undecodable audio: its rate is 192000 Hz, and 8000 to 48000 Hz are taken/,
    ],
    ["an empty body", bytes(Buffer.alloc(0)), /^answered with an empty body/],
    ["a head alone", bytes(streamedWav(Buffer.alloc(0))), /^answered without audio/],
    ["half a head", bytes(streamedWav(TONE).subarray(0, 30)), /^ended before any sound/],
    ["half a sample", bytes(streamedWav(TONE.subarray(0, 1))), /^answered without audio/],
    [
      "a gzip body",
      ({ response }) =>
        void response.writeHead(200, { "content-type": "audio/wav", "content-encoding": "gzip" }).end("x"),
      /^sent a compressed body that was not requested/,
    ],
    [
      "another protocol",
      ({ response }) =>
        void response.socket?.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
        ),
      /^closed the connection/,
    ],
    ["silence alone", bytes(streamedWav(Buffer.alloc(12 * 48_000))), /^sent only silence, 12\.00 s of it/],
    ["too little speech", bytes(streamedWav(tonePcm(1))), /^ended too early, after 1\.00 s/],
    [
      "less than the WAV's length",
      bytes(Buffer.concat([wavHeader(20 * 48_000, 24_000), TONE])),
      /^ended before the length in its WAV header/,
    ],
    [
      "less than the content-length",
      ({ response }) => {
        response.writeHead(200, { "content-type": "audio/wav", "content-length": 20 * 48_000 });
        response.write(streamedWav(TONE), () => response.destroy());
      },
      /^disconnected during speech \(ECONNRESET\)/,
    ],
    [
      "a connection reset between chunks",
      ({ response }) => {
        response.writeHead(200, { "content-type": "audio/wav" });
        response.write(streamedWav(TONE), () => response.destroy());
      },
      /^disconnected during speech \(ECONNRESET\)/,
    ],
    [
      "a stall",
      ({ response }) => {
        response.writeHead(200, { "content-type": "audio/wav" });
        response.write(streamedWav(TONE));
      },
      /^stopped sending audio during speech \(idleTimeoutMs, 200 ms\)/,
      { idleTimeoutMs: 200 },
    ],
  ];
  for (const [what, answer, message, options] of wrong)
    test(`fails on ${what} with its own message`, async () => {
      assert.match(await failure(answer, options), message);
    });

  test("does not count its listener's time", async ({ mock }) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    server.answers(speech);
    const model = remoteModel({ urls: [server.url], idleTimeoutMs: 100 });
    const speaking = model.speak(scriptOf({ text: LONG_TEXT }), new AbortController().signal);
    for (let frame = 0; frame < 150; frame += 1) {
      assert.equal((await speaking.next()).done, false);
      mock.timers.tick(101);
    }
    assert.equal((await speaking.next()).done, true);
    await model.close();
  });
});
