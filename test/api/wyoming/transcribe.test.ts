import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it, mock } from "node:test";
import type { WyomingDeps } from "../../../src/api/wyoming/requests.ts";
import { ByteRate, Recording } from "../../../src/api/wyoming/transcribe.ts";
import { DeferredRecogniser } from "../../../src/recognition/deferred-recogniser.ts";
import type { RequestContext } from "../../../src/requests/request-context.ts";
import fc from "../../properties.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { until } from "../../waiting.ts";
import { startTestServer, type TestServer } from "../http/start.ts";
import { WyomingClient } from "./client.ts";
import { assertServed, endsOf, FORMAT, gate, MIB, type WyomingTest, withWyoming } from "./wyoming-server.ts";

const HALF_SECOND = new Uint8Array(16_000);

let server: TestServer;
let client: WyomingClient;
let recogniser: ScriptedRecogniser;
let canHear = true;
before(async () => {
  recogniser = new ScriptedRecogniser();
  server = await startTestServer({ recogniser, wyoming: true, canHear: async () => canHear });
});
after(() => server.stop());
beforeEach(async () => {
  canHear = true;
  recogniser.clips.length = 0;
  recogniser.asked.length = 0;
  client = await WyomingClient.open(server.wyomingUrl!);
});
afterEach(() => client.close());

/** Sends a recording of half a second per chunk. */
function record(chunks = 1, language?: string): void {
  client.send("transcribe", { language });
  client.send("audio-start", FORMAT);
  for (let i = 0; i < chunks; i++) client.send("audio-chunk", FORMAT, HALF_SECOND);
  client.send("audio-stop");
}

describe("a recording", () => {
  it("is transcribed and metered", async () => {
    const usage = async () => (await server.get("/v1/usage")).json();
    const before = await usage();
    record(2, "en-US");
    const [transcript] = await client.upTo("transcript");
    assert.deepEqual(transcript?.data, { text: "One way & another. Two --> <three>.", language: "en" });
    const [clip] = recogniser.clips;
    assert.deepEqual([clip?.durationS, clip?.sampleRateHz, clip?.samples.length], [1, 16_000, 16_000]);
    assert.equal(recogniser.asked[0]?.language, "en");
    const after = await usage();
    assert.equal(after.requests, before.requests + 1);
    assert.equal(after.input_audio_seconds, before.input_audio_seconds + 1);
  });

  it("may come without transcribe and audio-start, and in another format", async () => {
    client.send("audio-chunk", { rate: 48_000, width: 4, channels: 2 }, new Uint8Array(48_000 * 8));
    client.send("audio-stop");
    await client.upTo("transcript");
    assert.equal(recogniser.clips[0]?.durationS, 1);
    assert.equal(recogniser.asked[0]?.language, null);
  });

  it("may follow another on its connection, in its own language", async () => {
    for (const language of ["de", undefined]) {
      record(1, language);
      await client.upTo("transcript");
    }
    const languages = recogniser.asked.map(({ language }) => language);
    assert.deepEqual(languages, ["de", null]);
  });

  const start = (format: object) => [["audio-start", format]] as const;
  for (const [what, events, message] of [
    ["in an unknown language", [["transcribe", { language: "Klingon" }]], /language "Klingon" is unknown/],
    ["of 8-bit samples", start({ ...FORMAT, width: 1 }), /width 2, 3, 4 bytes/],
    ["without a rate", start({ width: 2, channels: 1 }), /rate may be 8000 to 96000 Hz/],
    ["below 8 kHz", start({ ...FORMAT, rate: 7_999 }), /rate may be/],
    ["above 96 kHz", start({ ...FORMAT, rate: 96_001 }), /rate may be/],
    ["of nine channels", start({ ...FORMAT, channels: 9 }), /channels 1 to 8/],
    ["with a string as its rate", start({ ...FORMAT, rate: "16000" }), /rate may be/],
    ["inside another", [...start(FORMAT), ...start(FORMAT)], /a recording is open already/],
    [
      "that was not started",
      [
        ["transcribe", {}],
        ["audio-stop", {}],
      ],
      /^there is no recording: send audio-start/,
    ],
    ["without audio", [...start(FORMAT), ["audio-stop", {}]], /./],
  ] as const) {
    it(`${what} is refused and ends the connection`, async () => {
      for (const [type, data] of events) client.send(type, data);
      const [error, ...more] = await client.rest();
      assert.deepEqual([error?.type, error?.data.code, more], ["error", "invalid_request", []]);
      assert.match(error?.data.text, message);
      assert.equal(recogniser.clips.length, 0);
    });
  }

  it("over 25 MiB is refused", async () => {
    client.send("audio-start", FORMAT);
    for (let i = 0; i < 26; i++) client.send("audio-chunk", FORMAT, new Uint8Array(MIB));
    assert.match((await client.rest())[0]?.data.text, /over 26214400 bytes/);
  });

  it("stops being transcribed when its client leaves", async () => {
    recogniser.hold();
    record();
    await until("the transcription", () => recogniser.asked.length === 1);
    client.close();
    await until("its end", () => recogniser.stopped.length === 1);
    recogniser.release();
    await until("its memory to be free", async () => (await server.metric("audio_bytes")) === 0);
  });

  it("waits for a recogniser that loads, which describe offers", () => {
    const { opened, open: load } = gate();
    const loading = new DeferredRecogniser("whisper-base", {
      find: () => opened,
      open: async () => new ScriptedRecogniser(),
      memoryBytesPerS: 0,
    });
    const options = { recogniser: loading, canHear: () => loading.isExpected() };
    return withWyoming(options, async ({ open }) => {
      const own = await open();
      own.send("describe");
      assert.equal((await own.upTo("info")).at(-1)!.data.asr[0].models[0].name, "whisper-base");
      own.send("transcribe");
      own.send("audio-chunk", FORMAT, HALF_SECOND);
      own.send("audio-stop");
      await assertServed(await open());
      load();
      await own.upTo("transcript");
    });
  });

  it("is offered by describe unless the recogniser is missing, and sent to it in any case", async () => {
    const offered = async () => {
      client.send("describe");
      return (await client.upTo("info")).at(-1)!.data.asr;
    };
    const [asr] = await offered();
    assert.equal(asr.installed, true);
    assert.equal(asr.models[0].name, "scripted-recogniser");
    assert.ok(asr.models[0].languages.includes("en"));
    canHear = false;
    assert.deepEqual(await offered(), []);
    record();
    await client.upTo("transcript");
  });

  it("counts pending bytes in its rate, but not the time it waited for memory", async (context) => {
    let nowMs = 1_000;
    context.mock.method(performance, "now", () => nowMs);
    const admitRecording = mock.fn(async () => {
      nowMs += 60_000;
      return { units: 1 };
    });
    const deps = { requestReader: { admitRecording } } as unknown as WyomingDeps;
    const open = new Recording(FORMAT, {} as RequestContext, deps);
    nowMs += 500;
    assert.deepEqual(open.activity(0), { is: "empty", ageMs: 500 });
    assert.deepEqual(open.activity(70), { is: "sending", ageMs: 500, bytesPerS: 140 });
    await open.add(new Uint8Array(200_000));
    assert.equal(admitRecording.mock.callCount(), 1);
    nowMs += 500;
    assert.deepEqual(open.activity(70), { is: "sending", ageMs: 1_000, bytesPerS: 200_070 });
  });
});

describe("ByteRate", () => {
  it("counts a burst of any size for three seconds", () => {
    for (const bytes of [128 * 1024, MIB]) {
      const rate = new ByteRate();
      rate.note(10, bytes);
      assert.ok(rate.bytesPerS(3_000, bytes) > 40_000);
      for (const atMs of [1_000, 2_000, 3_000]) rate.note(atMs, bytes);
      for (const atMs of [3_010, 4_000, 300_000]) assert.equal(rate.bytesPerS(atMs, bytes), 0);
    }
  });

  it("is exact even if it is noted every millisecond", () => {
    const rate = new ByteRate();
    for (let atMs = 1; atMs <= 10_000; atMs++) rate.note(atMs, 8 * atMs);
    assert.equal(rate.bytesPerS(10_000, 80_000), 8_000);
    assert.ok(Math.abs(rate.bytesPerS(13_000, 80_000)) < 100);
  });

  it("is never negative", () => {
    const rate = new ByteRate();
    rate.note(500, 70_000);
    assert.equal(rate.bytesPerS(4_000, 100), 0);
  });

  it("is at least half of real time for telephone audio in chunks of up to 1 s", () => {
    const steps = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 5, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 1_000 }), steps, (chunkMs, stepsMs) => {
        const rate = new ByteRate();
        let atMs = 0;
        for (const stepMs of stepsMs) {
          atMs += stepMs;
          const bytes = Math.floor(atMs / chunkMs) * chunkMs * 16;
          const found = rate.bytesPerS(atMs, bytes);
          if (atMs >= 1_000) assert.ok(found >= 8_000, `${found} bytes a second at ${atMs} ms`);
          rate.note(atMs, bytes);
        }
      }),
    );
  });
});

describe("memory for recordings", () => {
  const withRecordings = (flags: Record<string, string>, work: (wyoming: WyomingTest) => Promise<void>) =>
    withWyoming({ recogniser: new ScriptedRecogniser(), flags }, work);
  /** Sends 8 MiB of a recording. */
  const send8Mib = (to: WyomingClient) => {
    to.send("audio-start", FORMAT);
    for (let i = 0; i < 8; i++) to.send("audio-chunk", FORMAT, new Uint8Array(MIB));
  };

  it("is separate from that of other keys' bodies", () => {
    const flags = { queueWaitMs: "300", receivingBudgetMb: "16", bodyLimitBytes: `${15 * MIB}` };
    return withRecordings(flags, async ({ server: own, openMany }) => {
      await openMany(1, send8Mib);
      const other = await own.another();
      const body = `{"text":"Me."${" ".repeat(14_700_000)}}`;
      const reply = await own.post("/v1/tts", body, other.auth);
      assert.equal(reply.status, 200, await reply.text());
    });
  });

  it("is taken from stalled recordings when another one waits", () =>
    withRecordings({}, async ({ server: own, clock, log, open, openMany }) => {
      const stalled = await openMany(3, send8Mib);
      clock.pass(5_000);
      const eager = await open();
      send8Mib(eager);
      eager.send("audio-stop");
      await eager.upTo("transcript");
      for (const each of stalled) assert.deepEqual(await each.rest(), []);
      await until("their ends to be counted", async () => (await endsOf(own, "transcribe", "left")) === 3);
      const lines = log().trim().split("\n");
      const reasons = lines.map((line) => JSON.parse(line).left_because).filter(Boolean);
      assert.deepEqual(reasons, Array(3).fill("it sent too slowly while others waited"));
    }));

  it("is kept by stalled recordings while no other one waits", () =>
    withRecordings({}, async ({ clock, openMany }) => {
      const clients = await openMany(2, send8Mib);
      clock.pass(60_000);
      for (const each of clients.reverse()) {
        each.send("audio-stop");
        await each.upTo("transcript");
      }
    }));

  it("is waited for only briefly by recordings that hold some, so that none deadlock", () =>
    withRecordings({ queueWaitMs: "300" }, async ({ openMany }) => {
      const clients = await openMany(3, send8Mib);
      for (const each of clients) {
        each.send("audio-chunk", FORMAT, new Uint8Array(MIB));
        each.send("audio-stop");
      }
      const ends = await Promise.all(clients.map(async (each) => (await each.next())!));
      const types = ends.map(({ type }) => type);
      assert.ok(types.includes("transcript") && types.includes("error"), types.join());
      for (const { type, data } of ends)
        if (type === "error") assert.match(data.text, /at its capacity \(recordings\)/);
    }));
});
