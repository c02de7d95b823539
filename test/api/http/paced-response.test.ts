import assert from "node:assert/strict";
import { after, before, describe, it, mock, test } from "node:test";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpDeps } from "../../../src/api/http/http-deps.ts";
import { formatAudioEvent, formatEvent, sendPaced } from "../../../src/api/http/paced-response.ts";
import { pcm16Bytes } from "../../../src/audio/pcm.ts";
import type { EndEvent, ErrorEvent, MetaEvent, StreamEvent } from "../../../src/contract/replies.ts";
import { SpeechService } from "../../../src/serving/reply/speech-service.ts";
import { anyText } from "../../contract/any-text.ts";
import fc from "../../properties.ts";
import { WyomingClient } from "../wyoming/client.ts";
import { startTestServer, type TestServer } from "./start.ts";

interface Message {
  readonly event: string;
  readonly data: string;
}

/** A reader of server-sent events after the HTML standard, section 9.2.6. */
class EventReader {
  readonly messages: Message[] = [];
  readonly #decoder = new TextDecoder();
  #text = "";
  #event = "";
  #data: string[] = [];

  feed(bytes: Uint8Array): void {
    this.#text += this.#decoder.decode(bytes, { stream: true });
    for (;;) {
      const end = /\r\n|\n|\r(?=[\s\S])/.exec(this.#text);
      if (end === null) return;
      this.#line(this.#text.slice(0, end.index));
      this.#text = this.#text.slice(end.index + end[0].length);
    }
  }

  #line(line: string): void {
    if (line === "") {
      if (this.#data.length > 0)
        this.messages.push({ event: this.#event || "message", data: this.#data.join("\n") });
      this.#event = "";
      this.#data = [];
      return;
    }
    const [, field = "", value = ""] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line) ?? [];
    if (field === "event") this.#event = value;
    if (field === "data") this.#data.push(value);
  }
}

/** Reads what was written in chunks of the given sizes. */
function read(written: string, sizes: readonly number[]): Message[] {
  const bytes = new TextEncoder().encode(written);
  const reader = new EventReader();
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    reader.feed(bytes.subarray(at, at + size));
    at += size;
  }
  return reader.messages;
}

const meta: fc.Arbitrary<MetaEvent> = fc.record({
  request_id: anyText(),
  model: anyText(),
  speaker: anyText(),
  sample_rate: fc.integer(),
  format: fc.constant("pcm_s16le" as const),
  frame_samples: fc.nat(),
});
const end: fc.Arbitrary<EndEvent> = fc.record({
  text: anyText(200),
  speaker: anyText(),
  audio_seconds: fc.nat(),
  usage: fc.record({ input_chars: fc.nat(), input_audio_seconds: fc.nat(), output_audio_seconds: fc.nat() }),
  meta: fc.dictionary(anyText(), anyText()),
});
const failure: fc.Arbitrary<ErrorEvent> = fc.record({
  type: anyText(),
  message: anyText(),
  request_id: fc.option(anyText()),
});
const named = <E extends string, D>(name: E, data: fc.Arbitrary<D>) =>
  data.map((each) => ({ event: name, data: each }));
const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  named("meta", meta),
  named("end", end),
  named("error", failure),
);
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

describe("server-sent events", () => {
  it("decode to the same text however the network cuts them", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), sizes, (events, cuts) => {
        const messages = read(`: keep-alive\n\n${events.map(formatEvent).join(": keep-alive\n\n")}`, cuts);
        assert.deepEqual(
          messages.map(({ event: name, data }) => ({ event: name, data: JSON.parse(data) })),
          events.map((sent) => ({ event: sent.event, data: JSON.parse(JSON.stringify(sent.data)) })),
        );
        for (const [index, { data }] of messages.entries()) {
          const sent = events[index];
          if (sent?.event === "end") assert.equal(JSON.parse(data).text, sent.data.text);
        }
      }),
    );
  });

  it("decode to the same samples, also from a view into a larger buffer", () => {
    fc.assert(
      fc.property(
        fc.int16Array({ maxLength: 2_000 }),
        fc.nat(50),
        fc.nat(1e6),
        sizes,
        (pcm, skip, index, cuts) => {
          const view = pcm.subarray(Math.min(skip, pcm.length));
          const [message, ...more] = read(formatAudioEvent(pcm16Bytes(view), index), cuts);
          assert.deepEqual([message?.event, more.length], ["audio", 0]);
          const { pcm_b64, ...rest } = JSON.parse(message?.data ?? "");
          assert.deepEqual(rest, { sample_rate: 24_000, index });
          const bytes = Buffer.from(pcm_b64, "base64");
          assert.equal(bytes.length, view.length * 2);
          const samples = Int16Array.from(view, (_, i) => bytes.readInt16LE(2 * i));
          assert.deepEqual(samples, view.slice());
        },
      ),
    );
  });
});

describe("Pacing", () => {
  const text = "Good evening.";
  const AHEAD_S = 1;

  let server: TestServer;
  before(async () => {
    server = await startTestServer({ flags: { maxAheadS: `${AHEAD_S}` }, wyoming: true });
  });
  after(() => server.stop());

  /** Whether a request is paced. */
  async function isPlayed(send: () => Promise<void>): Promise<boolean | undefined> {
    const { mock: spy } = mock.method(SpeechService.prototype, "speak");
    try {
      await send();
      assert.equal(spy.callCount(), 1);
      return spy.calls[0]?.arguments[1].isPlayed;
    } finally {
      spy.restore();
    }
  }

  const posted = async (path: string, body: object, headers?: Record<string, string>): Promise<void> => {
    const reply = await server.post(path, body, headers);
    assert.equal(reply.status, 200);
    await reply.arrayBuffer();
  };
  const speech = (more: object = {}) => posted("/v1/audio/speech", { input: text, ...more });
  const stream = (headers = {}) => posted("/v1/converse/stream", { conversation: [{ text }] }, headers);
  const vapi = { message: { type: "voice-request", text, sampleRate: 8_000 } };

  async function wyoming(...events: readonly (readonly [string, object?])[]): Promise<void> {
    const client = await WyomingClient.open(server.wyomingUrl!);
    for (const [type, data] of events) client.send(type, data);
    await client.upTo("audio-stop");
    client.close();
  }
  const inChunks = () => wyoming(["synthesize-start"], ["synthesize-chunk", { text }], ["synthesize-stop"]);

  const REQUESTS: readonly (readonly [what: string, isPaced: boolean, send: () => Promise<void>])[] = [
    ["a stream of a conversation", true, stream],
    ["OpenAI's events", true, () => speech({ stream_format: "sse" })],
    ["OpenAI's streamed bytes", true, () => speech({ stream_format: "audio" })],
    ["samples for Vapi", true, () => posted("/v1/audio/telephony", vapi)],
    ["a Wyoming text in chunks", true, inChunks],
    ["a whole reply", false, () => posted("/v1/tts", { text })],
    ["a stream with X-Antiphon-Pace: own", false, () => stream({ "X-Antiphon-Pace": "own" })],
    ["OpenAI's file", false, () => speech()],
    ["a file with its length", false, () => speech({ response_format: "wav" })],
    ["a file for jambonz", false, () => posted("/v1/audio/telephony", { text, type: "text" })],
    ["a whole Wyoming text", false, () => wyoming(["synthesize", { text }])],
  ];
  for (const [what, isPaced, send] of REQUESTS)
    test(`${isPaced ? "applies" : "does not apply"} to ${what}`, async () => {
      assert.equal(await isPlayed(send), isPaced);
    });

  test("is reported among the limits of /v1/info", async () => {
    const { limits } = await (await server.get("/v1/info")).json();
    assert.equal(limits.max_ahead_seconds, AHEAD_S);
  });
});

test("sendPaced sends no status while a request waits for a slot, so that a refusal has its own", async () => {
  let heads = 0;
  const reply = { hijack: () => (heads += 1), getHeaders: () => ({}), raw: { writeHead() {}, destroy() {} } };
  const form = { headers: {}, keepAlive: null, failure: () => null };
  const sent = (first: Promise<unknown>, slot: () => Promise<unknown> | null) =>
    sendPaced(
      { options: { streamPatienceMs: 0, heartbeatMs: 1 } } as unknown as HttpDeps,
      { tracked: { signal: new AbortController().signal } } as unknown as FastifyRequest,
      reply as unknown as FastifyReply,
      form,
      first,
      async () => {},
      slot,
    );
  const never = new Promise<never>(() => {});
  let refuse = (_error: Error): void => {};
  const refused = new Promise<never>((_resolve, reject) => (refuse = reject));
  const waiting = sent(refused, () => refused);
  await sent(never, () => null);
  await sent(never, () => Promise.resolve());
  assert.equal(heads, 2, "only those that do not wait");
  refuse(new Error("full"));
  await assert.rejects(waiting, { message: "full" });
  assert.equal(heads, 2);
});
