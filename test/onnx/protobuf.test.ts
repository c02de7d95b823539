import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  bytesOf,
  decodeMessage,
  encodeMessage,
  type Field,
  integer,
  message,
  text,
  textsOf,
} from "../../src/onnx/protobuf.ts";
import fc from "../properties.ts";

const field: fc.Arbitrary<Field> = fc.oneof(
  fc.record({
    number: fc.integer({ min: 1, max: 2 ** 20 }),
    value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  }),
  fc.record({ number: fc.integer({ min: 1, max: 2 ** 20 }), value: fc.uint8Array({ maxLength: 300 }) }),
  fc.record({
    number: fc.integer({ min: 1, max: 15 }),
    value: fc.uint8Array({ minLength: 4, maxLength: 4 }),
    fixed: fc.constant(5 as const),
  }),
);

describe("encodeMessage and decodeMessage", () => {
  it("round-trip any fields", () => {
    fc.assert(
      fc.property(fc.array(field), (fields) => {
        const found = decodeMessage(encodeMessage(fields));
        assert.deepEqual(
          found.map(({ number, value, fixed }) => [number, value, fixed]),
          fields.map(({ number, value, fixed }) => [number, value, fixed]),
        );
      }),
    );
  });

  it("reject a truncated message, or return fewer fields", () => {
    fc.assert(
      fc.property(fc.array(field, { minLength: 1 }), fc.nat(), (fields, cut) => {
        const bytes = encodeMessage(fields);
        const short = bytes.subarray(0, cut % bytes.length);
        try {
          assert.ok(decodeMessage(short).length < fields.length);
        } catch (thrown) {
          assert.match(String(thrown), /cut short/);
        }
      }),
    );
  });

  it("write varints, negative ones in ten bytes", () => {
    assert.deepEqual([...encodeMessage([integer(1, 150)])], [0x08, 0x96, 0x01]);
    assert.equal(encodeMessage([integer(1, -1)]).length, 11);
  });

  it("find texts and messages by their number", () => {
    const fields = decodeMessage(encodeMessage([text(2, "café"), message(3, [text(1, "inner")])]));
    assert.deepEqual(textsOf(fields, 2), ["café"]);
    assert.deepEqual(textsOf(decodeMessage(bytesOf(fields, 3)[0]!), 1), ["inner"]);
  });

  it("reject a varint of more than 64 bits", () => {
    const longest = Uint8Array.of(8, ...new Array<number>(9).fill(0x80), 1);
    assert.deepEqual(decodeMessage(longest), [{ number: 1, value: 1n << 63n }]);
    const endless = Uint8Array.of(8, ...new Array<number>(100_000).fill(0x80), 1);
    assert.throws(() => decodeMessage(endless), /64 bits/);
  });
});
