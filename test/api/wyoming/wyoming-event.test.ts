import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  EventParser,
  encodeEvent,
  MAX_HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
  type WyomingEvent,
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

/** All events of some bytes that come cut into pieces of these lengths, over and over. */
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
  return assert.fail("it was taken");
}

describe("events", () => {
  test("come out as they went in, however their bytes are cut", () => {
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

  test("may have their data in the line, as older clients do, and what follows wins over it", () => {
    const data = '{"text":"b","c":[],"rate":16000}';
    const line = `{"type":"x","data":{"text":"a","voice":null},"data_length":${data.length}}\n${data}{"type":"y"}\n`;
    assert.deepEqual(parsed(Buffer.from(line), [7]), [
      { type: "x", data: { text: "b", voice: null, rate: 16_000 }, payload: null },
      { type: "y", data: {}, payload: null },
    ]);
  });

  test("keep what is read of their data, however deep the rest is nested", () => {
    const line = `{"type":"x","data":{"a":${"[".repeat(9_000)}${"]".repeat(9_000)},"text":"\\"${"[{".repeat(99)}"}}\n`;
    assert.deepEqual(parsed(Buffer.from(line), [7])[0]?.data, { text: `"${"[{".repeat(99)}` });
  });

  test("tell how much of them had to be read", () => {
    const parser = new EventParser();
    parser.push(Buffer.from('{"type":"x","data_length":2,"payload_length":3}\n{}abc'));
    assert.equal(parser.next()?.jsonBytes, 49);
  });

  test("keep their payload although the memory is used again", () => {
    const parser = new EventParser();
    parser.push(encodeEvent({ type: "x", data: {}, payload: Uint8Array.of(1, 2) }));
    const first = parser.next();
    parser.push(encodeEvent({ type: "x", data: {}, payload: Uint8Array.of(3, 4) }));
    parser.next();
    assert.deepEqual(first?.payload, Uint8Array.of(1, 2));
  });

  test("as large as they may be are taken a byte at a time", () => {
    const payload = new Uint8Array(MAX_PAYLOAD_BYTES).fill(7);
    const bytes = encodeEvent({ type: "audio-chunk", data: {}, payload });
    assert.deepEqual(parsed(bytes, [1])[0]?.payload, payload);
  });
});

describe("what is no event is refused:", () => {
  for (const [what, bytes, message] of [
    ["a request of HTTP", "GET / HTTP/1.1\r\n\r\n", /line is not JSON/],
    ["an empty line", "\n", /line is not JSON/],
    ["a list", "[]\n", /line must be an object/],
    ["no type", "{}\n", /no type/],
    ["a type that is a number", '{"type":1}\n', /no type/],
    ["data that is a list", '{"type":"x","data":[]}\n', /data must be an object/],
    ["a length below nothing", '{"type":"x","data_length":-1}\n', /data_length must be a whole number/],
    [
      "a length with a fraction",
      '{"type":"x","payload_length":1.5}\n',
      /payload_length must be a whole number/,
    ],
    [
      "a length that is a text",
      '{"type":"x","payload_length":"9"}\n',
      /payload_length must be a whole number/,
    ],
    ["much data", '{"type":"x","data_length":131073}\n', /data_length may have 131072 bytes/],
    ["a huge payload", '{"type":"x","payload_length":1e15}\n', /payload_length may have 1048576 bytes/],
    ["data that is no JSON", '{"type":"x","data_length":2}\n{]', /data is not JSON/],
    [
      "data that is shorter than it says",
      '{"type":"x","data_length":9}\n{"a":1}{"type":"y"}\n',
      /data is not JSON/,
    ],
    ["bytes that are no UTF-8", Uint8Array.of(0x22, 0xff, 0x22, 0x0a), /line is not JSON in UTF-8/],
    ["a deep line", `${"[".repeat(100_000)}\n`, /line is not JSON/],
    ["deep data", `{"type":"x","data_length":100000}\n${"[".repeat(100_000)}`, /data is not JSON/],
    ["a line that is too long", `"${"a".repeat(MAX_HEADER_BYTES)}"\n`, /its line may have 131072 bytes/],
    ["a line that does not end", "a".repeat(MAX_HEADER_BYTES + 1), /its line may have 131072 bytes/],
  ] as const) {
    test(what, () => assert.match(refused(bytes).message, message));
  }

  test("whatever it is, nothing else is thrown", () => {
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
