import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  EventParser,
  encodeEvent,
  pointsOfAudio,
  pointsOfText,
  pointsOutside,
  type ReceivedEvent,
  wyomingEvent,
} from "../../../src/api/wyoming/wyoming-event.ts";

/** An event as it comes. */
function received(type: string, data: Record<string, unknown>, payload?: Uint8Array): ReceivedEvent {
  const parser = new EventParser();
  parser.push(encodeEvent(wyomingEvent(type, data, payload ?? null)));
  return parser.next()!;
}

describe("what an event costs", () => {
  const format = { rate: 16_000, width: 2, channels: 1, timestamp: 123_456 };

  test("outside of a request grows with its bytes, of which those of a payload count little", () => {
    const small = pointsOutside(received("ping", {}));
    assert.ok(small >= 1_000, `${small}`);
    assert.ok(pointsOutside(received("ping", { text: "a".repeat(100_000) })) > 100_000 + small);
    const payload = pointsOutside(received("ping", {}, new Uint8Array(1_000_000)));
    assert.ok(payload > 60_000 && payload < 70_000, `${payload}`);
  });

  test("is nothing for sound as microphones and files have it, and something for tiny pieces of it", () => {
    for (const bytes of [2_048, 960, 640]) {
      assert.equal(pointsOfAudio(received("audio-chunk", format, new Uint8Array(bytes))), 0, `${bytes}`);
    }
    // 10 ms of a telephone's sound: a hundred of them a second come back faster than they are spent.
    assert.ok(100 * pointsOfAudio(received("audio-chunk", format, new Uint8Array(160))) < 64 * 1024);
    assert.ok(pointsOfAudio(received("audio-chunk", format)) > 256);
  });

  test("lets the words of a model come token by token, and not empty or in much wrapping", () => {
    const tokens = 2_000;
    const price = pointsOfText(received("synthesize-chunk", { text: " and" }), 4);
    assert.ok(tokens * price < 512 * 1024, `${price}`);
    assert.ok(pointsOfText(received("synthesize-chunk", { text: "" }), 0) > 256);
    assert.ok(pointsOfText(received("synthesize-chunk", { text: "a", x: "a".repeat(100_000) }), 1) > 100_000);
  });
});
