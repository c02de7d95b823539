import { OPUS_HEAD } from "./ogg-writer.ts";

const SEGMENT = [0x18, 0x53, 0x80, 0x67];
const CLUSTER = [0x1f, 0x43, 0xb6, 0x75];

/** An EBML element; an open one has no size. */
export function element(id: readonly number[], body: Uint8Array, isOpen = false): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length));
  size[0] = 1;
  return Buffer.concat([
    Buffer.from(id),
    isOpen ? Buffer.of(0x01, ...Array<number>(7).fill(255)) : size,
    body,
  ]);
}

/** A track entry: type 1 is video, 2 is audio. */
export function track(
  number: number,
  type: number,
  codec: string,
  more: Uint8Array = new Uint8Array(0),
): Buffer {
  return element(
    [0xae],
    Buffer.concat([
      element([0xd7], Buffer.of(number)),
      element([0x83], Buffer.of(type)),
      element([0x86], Buffer.from(codec)),
      element([0x63, 0xa2], OPUS_HEAD),
      more,
    ]),
  );
}

/** A WebM file with each of the blocks in its own cluster. */
export function webm(tracks: readonly Buffer[], blocks: readonly Buffer[], isOpen: boolean): Buffer {
  const clusters = blocks.map((block) =>
    element(CLUSTER, Buffer.concat([element([0xe7], Buffer.of(0)), block]), isOpen),
  );
  const body = Buffer.concat([element([0x16, 0x54, 0xae, 0x6b], Buffer.concat(tracks)), ...clusters]);
  return Buffer.concat([
    element([0x1a, 0x45, 0xdf, 0xa3], new Uint8Array(5)),
    element(SEGMENT, body, isOpen),
  ]);
}

/** A block of track 2. Lacing: 0 none, 1 Xiph, 2 fixed, 3 EBML. */
export function block(frames: readonly Uint8Array[], lacing: number): Buffer {
  const head = Buffer.of(0x82, 0, 5, lacing << 1);
  if (lacing === 0) return Buffer.concat([head, frames[0]!]);
  const sizes = frames.slice(0, -1).map(({ length }) => length);
  const coded =
    lacing === 2
      ? []
      : lacing === 1
        ? sizes.flatMap((size) => [...Array<number>(Math.floor(size / 255)).fill(255), size % 255])
        : sizes.flatMap((size, at) => {
            const value = at === 0 ? size : size - sizes[at - 1]! + 8_191;
            return [0x40 | (value >> 8), value & 255];
          });
  return Buffer.concat([head, Buffer.of(frames.length - 1, ...coded), ...frames]);
}
