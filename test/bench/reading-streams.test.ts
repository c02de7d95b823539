import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAudioEvent, formatEvent } from "../../src/api/http/sse.ts";
import { pcm16Bytes } from "../../src/audio/pcm.ts";
import { audioRms, EventSplitter, isAudio, isError } from "../../src/cli/bench/event-splitter.ts";
import { ReplyParser } from "../../src/cli/bench/reply-parser.ts";
import fc from "../properties.ts";

interface Heard {
  readonly status: number;
  readonly body: string;
}

test("replies are read the same however a connection cuts their bytes", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          body: fc.string(),
          chunks: fc.array(fc.string({ minLength: 1 })),
          isChunked: fc.boolean(),
        }),
      ),
      fc.array(fc.nat(40), { minLength: 1 }),
      (replies, cuts) => {
        const bytes = Buffer.from(replies.map(asReply).join(""));
        assert.deepEqual(
          heardOf(pieces(bytes, cuts)),
          replies.map(({ body, chunks, isChunked }) => ({
            status: 200,
            body: isChunked ? chunks.join("") : body,
          })),
        );
      },
    ),
  );
});

test("a reply without a body ends with its headers", () => {
  const bytes = Buffer.from("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
  assert.deepEqual(heardOf([bytes]), [{ status: 502, body: "" }]);
});

test("events are told apart however their bytes are cut, and speech from silence", () => {
  const silence = new Int16Array(1_920);
  const speech = Int16Array.from({ length: 1_920 }, (_, index) => (index % 2 === 0 ? 8_192 : -8_192));
  const error = { type: "inference_error", message: "the voice is gone", request_id: "r" } as const;
  const bytes = Buffer.from(
    formatAudioEvent(pcm16Bytes(silence), 0) +
      ": keep-alive\n\n" +
      formatAudioEvent(pcm16Bytes(speech), 1) +
      formatEvent({ event: "error", data: error }),
  );
  fc.assert(
    fc.property(fc.array(fc.nat(4_000), { minLength: 1 }), (cuts) => {
      const events: Buffer[] = [];
      const splitter = new EventSplitter((event) => events.push(Buffer.from(event)));
      for (const piece of pieces(bytes, cuts)) splitter.push(piece);
      assert.deepEqual(events.map(isAudio), [true, false, true, false]);
      assert.deepEqual(events.map(isError), [false, false, false, true]);
      assert.deepEqual(events.filter(isAudio).map(audioRms), [0, 0.25]);
    }),
  );
});

function asReply({
  body,
  chunks,
  isChunked,
}: {
  body: string;
  chunks: string[];
  isChunked: boolean;
}): string {
  if (!isChunked) return `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const parts = chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`);
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${parts.join("")}0\r\n\r\n`;
}

function heardOf(bytes: readonly Buffer[]): Heard[] {
  const heard: Heard[] = [];
  let status = 0;
  let body: Buffer[] = [];
  const parser = new ReplyParser({
    onStatus: (code) => {
      status = code;
      body = [];
    },
    onBody: (piece) => body.push(Buffer.from(piece)),
    onEnd: () => heard.push({ status, body: Buffer.concat(body).toString() }),
  });
  for (const piece of bytes) parser.push(piece);
  return heard;
}

/** `bytes` cut into pieces of the given lengths, over and over, at least one byte each. */
function pieces(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length]! + 1;
    cut.push(bytes.subarray(at, at + length));
    at += length;
  }
  return cut;
}
