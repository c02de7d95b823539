import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FrameScanner } from "../../../../src/api/http/websocket/message-memory.ts";
import fc from "../../../properties.ts";

interface Frame {
  readonly isControl: boolean;
  readonly isFinal: boolean;
  readonly length: number;
}

/** A client's frame, masked, with a payload of zeros. */
function encoded({ isControl, isFinal, length }: Frame): Buffer {
  const first = (isFinal ? 0x80 : 0) | (isControl ? 0x9 : 0x1);
  const header =
    length < 126 ? [0x80 | length] : length < 65_536 ? [0xfe, 0, 0] : [0xff, ...Array(8).fill(0)];
  const bytes = Buffer.alloc(1 + header.length + 4 + length);
  bytes.set([first, ...header]);
  if (header.length === 3) bytes.writeUInt16BE(length, 2);
  if (header.length === 9) bytes.writeBigUInt64BE(BigInt(length), 2);
  return bytes;
}

describe("a scanner of frames", () => {
  test("counts them and knows what is incomplete, however the bytes are cut", () => {
    const frame = fc.oneof(
      fc.record({
        isControl: fc.constant(false),
        isFinal: fc.boolean(),
        length: fc.constantFrom(0, 1, 125, 126, 65_535, 65_536, 70_000),
      }),
      fc.record({ isControl: fc.constant(true), isFinal: fc.constant(true), length: fc.nat(125) }),
    );
    const cuts = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 8 }), cuts, (frames, lengths) => {
        const scanner = new FrameScanner();
        let count = 0;
        let open = 0;
        for (const each of frames) {
          const bytes = encoded(each);
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const to = at + lengths[turn % lengths.length]!;
            count += scanner.push(bytes.subarray(at, to));
            at = to;
            if (at < bytes.length) assert.ok(scanner.isInside);
          }
          if (!each.isControl) open = each.isFinal ? 0 : open + each.length;
          const isOpen = frames.slice(0, frames.indexOf(each) + 1).findLast(({ isControl }) => !isControl);
          assert.equal(scanner.isInside, isOpen !== undefined && !isOpen.isFinal);
          assert.equal(scanner.messageBytes, open);
        }
        assert.equal(count, frames.length);
      }),
    );
  });

  test("knows the size of a message from its first frame on", () => {
    const scanner = new FrameScanner();
    scanner.push(encoded({ isControl: false, isFinal: true, length: 70_000 }).subarray(0, 20));
    assert.equal(scanner.messageBytes, 70_000);
  });
});
