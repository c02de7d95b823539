import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatAudioEvent, formatEvent } from "../../../src/api/http/paced-response.ts";
import { pcm16Bytes } from "../../../src/audio/pcm.ts";
import type { EndEvent, ErrorEvent, MetaEvent, StreamEvent } from "../../../src/contract/replies.ts";
import { anyText } from "../../contract/any-text.ts";
import fc from "../../properties.ts";

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
  it("bring any text to any reader as it was, however the network cuts them", () => {
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

  it("bring every sample as it was, from a view into a larger buffer too", () => {
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
