import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  EventParser,
  encodeEvent,
  MAX_HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
  pointsOfAudio,
  pointsOfText,
  pointsOutside,
  type ReceivedEvent,
  type WyomingEvent,
  wyomingEvent,
} from "../../../src/api/wyoming/wyoming-event.ts";
import { ServiceError } from "../../../src/contract/errors.ts";
import fc from "../../properties.ts";

const SCALAR = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null));
const EVENT = fc.record(
  {
    type: fc.string({ minLength: 1, unit: "binary" }).filter((type) => type.isWellFormed()),
    data: fc
      .record(
        { text: SCALAR, language: SCALAR, rate: SCALAR, voice: fc.record({ name: SCALAR }) },
        { requiredKeys: [] },
      )
      .map((data) => JSON.parse(JSON.stringify(data))),
    payload: fc.option(fc.uint8Array({ minLength: 1, maxLength: 200 })),
  },
  { noNullPrototype: true },
);

/** Parses bytes in chunks of these lengths, over and over. */
function parsed(bytes: Uint8Array, lengths: readonly number[]): WyomingEvent[] {
  const parser = new EventParser();
  const events: WyomingEvent[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = at + lengths[turn % lengths.length]!;
    parser.push(bytes.subarray(at, end));
    at = end;
    for (let event = parser.next(); event !== null; event = parser.next()) {
      const { jsonBytes: _, ...sent } = event;
      events.push(sent);
    }
  }
  assert.equal(parser.hasPartialEvent, false);
  assert.equal(parser.waitingBytes, 0);
  return events;
}

function refused(bytes: string | Uint8Array): ServiceError {
  const parser = new EventParser();
  parser.push(Buffer.from(bytes));
  try {
    while (parser.next() !== null);
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.type, "invalid_request");
    return error;
  }
  return assert.fail("no error");
}

describe("EventParser", () => {
  test("returns events unchanged, however their bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(EVENT, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 6 }),
        (events, lengths) => {
          const bytes = Buffer.concat(events.map(encodeEvent));
          assert.deepEqual(parsed(bytes, lengths), events);
        },
      ),
    );
  });

  test("merges data in the header, as older clients send it, with data after it", () => {
    const data = '{"text":"b","c":[],"rate":16000}';
    const line = `{"type":"x","data":{"text":"a","voice":null},"data_length":${data.length}}\n${data}{"type":"y"}\n`;
    assert.deepEqual(parsed(Buffer.from(line), [7]), [
      { type: "x", data: { text: "b", voice: null, rate: 16_000 }, payload: null },
      { type: "y", data: {}, payload: null },
    ]);
  });

  test("keeps known fields beside deeply nested ones", () => {
    const line = `{"type":"x","data":{"a":${"[".repeat(9_000)}${"]".repeat(9_000)},"text":"\\"${"[{".repeat(99)}"}}\n`;
    assert.deepEqual(parsed(Buffer.from(line), [7])[0]?.data, { text: `"${"[{".repeat(99)}` });
  });

  test("counts the bytes of JSON that it parsed", () => {
    const parser = new EventParser();
    parser.push(Buffer.from('{"type":"x","data_length":2,"payload_length":3}\n{}abc'));
    assert.equal(parser.next()?.jsonBytes, 49);
  });

  test("copies payloads out of its buffer", () => {
    const parser = new EventParser();
    parser.push(encodeEvent({ type: "x", data: {}, payload: Uint8Array.of(1, 2) }));
    const first = parser.next();
    parser.push(encodeEvent({ type: "x", data: {}, payload: Uint8Array.of(3, 4) }));
    parser.next();
    assert.deepEqual(first?.payload, Uint8Array.of(1, 2));
  });

  test("takes the largest event a byte at a time", () => {
    const payload = new Uint8Array(MAX_PAYLOAD_BYTES).fill(7);
    const bytes = encodeEvent({ type: "audio-chunk", data: {}, payload });
    assert.deepEqual(parsed(bytes, [1])[0]?.payload, payload);
  });

  const INTEGER = /payload_length must be a whole number/;
  for (const [what, bytes, message] of [
    ["an HTTP request", "GET / HTTP/1.1\r\n\r\n", /line is not JSON/],
    ["an empty line", "\n", /line is not JSON/],
    ["an array", "[]\n", /line must be an object/],
    ["no type", "{}\n", /no type/],
    ["a numeric type", '{"type":1}\n', /no type/],
    ["an array as data", '{"type":"x","data":[]}\n', /data must be an object/],
    ["a negative length", '{"type":"x","data_length":-1}\n', /data_length must be a whole number/],
    ["a fractional length", '{"type":"x","payload_length":1.5}\n', INTEGER],
    ["a string as length", '{"type":"x","payload_length":"9"}\n', INTEGER],
    ["too much data", '{"type":"x","data_length":131073}\n', /data_length may have 131072 bytes/],
    ["a huge payload", '{"type":"x","payload_length":1e15}\n', /payload_length may have 1048576 bytes/],
    ["malformed data", '{"type":"x","data_length":2}\n{]', /data is not JSON/],
    ["short data", '{"type":"x","data_length":9}\n{"a":1}{"type":"y"}\n', /data is not JSON/],
    ["bytes outside UTF-8", Uint8Array.of(0x22, 0xff, 0x22, 0x0a), /line is not JSON in UTF-8/],
    ["a deeply nested line", `${"[".repeat(100_000)}\n`, /line is not JSON/],
    ["deeply nested data", `{"type":"x","data_length":100000}\n${"[".repeat(100_000)}`, /data is not JSON/],
    ["too long a line", `"${"a".repeat(MAX_HEADER_BYTES)}"\n`, /its line may have 131072 bytes/],
    ["a line without an end", "a".repeat(MAX_HEADER_BYTES + 1), /its line may have 131072 bytes/],
  ] as const) {
    test(`refuses ${what}`, () => assert.match(refused(bytes).message, message));
  }

  test("throws nothing but service errors for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const parser = new EventParser();
        parser.push(bytes);
        try {
          while (parser.next() !== null);
        } catch (error) {
          assert.ok(error instanceof ServiceError);
        }
      }),
    );
  });
});

function received(type: string, data: Record<string, unknown>, payload?: Uint8Array): ReceivedEvent {
  const parser = new EventParser();
  parser.push(encodeEvent(wyomingEvent(type, data, payload ?? null)));
  return parser.next()!;
}

describe("the price of an event", () => {
  const format = { rate: 16_000, width: 2, channels: 1, timestamp: 123_456 };

  test("outside a request grows with its bytes, with little for its payload", () => {
    const small = pointsOutside(received("ping", {}));
    assert.ok(small >= 1_000, `${small}`);
    assert.ok(pointsOutside(received("ping", { text: "a".repeat(100_000) })) > 100_000 + small);
    const payload = pointsOutside(received("ping", {}, new Uint8Array(1_000_000)));
    assert.ok(payload > 60_000 && payload < 70_000, `${payload}`);
  });

  test("is 0 for usual audio chunks and more for tiny ones", () => {
    for (const bytes of [2_048, 960, 640]) {
      assert.equal(pointsOfAudio(received("audio-chunk", format, new Uint8Array(bytes))), 0, `${bytes}`);
    }
    // 10 ms of telephone audio, a hundred times a second, costs less than the budget regains.
    assert.ok(100 * pointsOfAudio(received("audio-chunk", format, new Uint8Array(160))) < 64 * 1024);
    assert.ok(pointsOfAudio(received("audio-chunk", format)) > 256);
  });

  test("lets text come token by token, but not empty or padded", () => {
    const tokens = 2_000;
    const price = pointsOfText(received("synthesize-chunk", { text: " and" }), 4);
    assert.ok(tokens * price < 512 * 1024, `${price}`);
    assert.ok(pointsOfText(received("synthesize-chunk", { text: "" }), 0) > 256);
    assert.ok(pointsOfText(received("synthesize-chunk", { text: "a", x: "a".repeat(100_000) }), 1) > 100_000);
  });
});
