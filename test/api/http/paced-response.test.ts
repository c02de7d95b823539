import assert from "node:assert/strict";
import { after, before, describe, it, mock, test } from "node:test";
import { formatAudioEvent, formatEvent } from "../../../src/api/http/paced-response.ts";
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

/** A reader of server-sent events after the HTML standard, section 9.2.6, fed with pieces of bytes of any size. */
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

/** Reads what was written, cut into pieces of the given sizes in turn. */
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
const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  meta.map((data) => ({ event: "meta" as const, data })),
  end.map((data) => ({ event: "end" as const, data })),
  failure.map((data) => ({ event: "error" as const, data })),
);
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

describe("server-sent events", () => {
  it("decode to the same text however the network cuts them", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), sizes, (events, cuts) => {
        const heard = read(`: keep-alive\n\n${events.map(formatEvent).join(": keep-alive\n\n")}`, cuts);
        assert.deepEqual(
          heard.map(({ event: name, data }) => ({ event: name, data: JSON.parse(data) })),
          events.map((sent) => ({ event: sent.event, data: JSON.parse(JSON.stringify(sent.data)) })),
        );
        for (const [index, { data }] of heard.entries()) {
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
        fc.nat(1_000_000),
        sizes,
        (pcm, skip, index, cuts) => {
          const view = pcm.subarray(Math.min(skip, pcm.length));
          const [message, ...more] = read(formatAudioEvent(pcm16Bytes(view), index), cuts);
          assert.equal(more.length, 0);
          assert.equal(message?.event, "audio");
          const { pcm_b64, ...rest } = JSON.parse(message?.data ?? "");
          assert.deepEqual(rest, { sample_rate: 24_000, index });
          const bytes = Buffer.from(pcm_b64, "base64");
          assert.equal(bytes.length, view.length * 2);
          assert.deepEqual(
            Int16Array.from(view, (_, i) => bytes.readInt16LE(2 * i)),
            view.slice(),
          );
        },
      ),
    );
  });
});

describe("Pacing", () => {
  const TEXT = "Good evening.";
  const AHEAD_S = 1;

  let server: TestServer;
  before(async () => {
    server = await startTestServer({ flags: { maxAheadS: `${AHEAD_S}` }, wyoming: true });
  });
  after(() => server.stop());

  /** Whether what is asked for is played as it comes, as the service is told. How it then keeps pace: `lead.test.ts`. */
  async function isPlayed(ask: (text: string) => Promise<void>): Promise<boolean | undefined> {
    const converse = mock.method(SpeechService.prototype, "speak");
    try {
      await ask(TEXT);
      assert.equal(converse.mock.callCount(), 1);
      return converse.mock.calls[0]?.arguments[1].isPlayed;
    } finally {
      converse.mock.restore();
    }
  }

  const posted = async (path: string, body: object, headers?: Record<string, string>): Promise<void> => {
    const reply = await server.post(path, body, headers);
    assert.equal(reply.status, 200);
    await reply.arrayBuffer();
  };
  const speech = (input: string, more: object = {}) => posted("/v1/audio/speech", { input, ...more });
  const vapi = (text: string) => ({ message: { type: "voice-request", text, sampleRate: 8_000 } });

  async function wyoming(ask: (client: WyomingClient) => void): Promise<void> {
    const client = await WyomingClient.open(server.wyomingUrl!);
    ask(client);
    await client.upTo("audio-stop");
    client.close();
  }

  /** What is played as it comes: by whom, and how it is asked for. */
  const PLAYED: readonly (readonly [string, (text: string) => Promise<void>])[] = [
    ["a stream of a conversation", (text) => posted("/v1/converse/stream", { conversation: [{ text }] })],
    ["events of OpenAI's API", (text) => speech(text, { stream_format: "sse" })],
    ["bytes of OpenAI's API as they are spoken", (text) => speech(text, { stream_format: "audio" })],
    ["samples for Vapi", (text) => posted("/v1/audio/telephony", vapi(text))],
    [
      "a text that comes in pieces by Wyoming's protocol",
      (text) =>
        wyoming((client) => {
          client.send("synthesize-start");
          client.send("synthesize-chunk", { text });
          client.send("synthesize-stop");
        }),
    ],
  ];

  for (const [what, ask] of PLAYED) {
    test(`applies to ${what}`, async () => {
      assert.equal(await isPlayed(ask), true);
    });
  }

  /** What its client may wait for until all of it is there. */
  const WHOLE: readonly (readonly [string, (text: string) => Promise<void>])[] = [
    ["a reply in one piece", (text) => posted("/v1/tts", { text })],
    [
      "a stream whose client says that it keeps its own pace",
      (text) => posted("/v1/converse/stream", { conversation: [{ text }] }, { "X-Antiphon-Pace": "own" }),
    ],
    ["a file of OpenAI's API", (text) => speech(text)],
    ["a file that tells its length", (text) => speech(text, { response_format: "wav" })],
    ["a file for jambonz", (text) => posted("/v1/audio/telephony", { text, type: "text" })],
    [
      "a text that is sent whole by Wyoming's protocol",
      (text) => wyoming((c) => c.send("synthesize", { text })),
    ],
  ];

  for (const [what, ask] of WHOLE) {
    test(`does not apply to ${what}`, async () => {
      assert.equal(await isPlayed(ask), false);
    });
  }

  test("is reported among the limits of /v1/info", async () => {
    const { limits } = await (await server.get("/v1/info")).json();
    assert.equal(limits.max_ahead_seconds, AHEAD_S);
  });
});
