import { crc16 } from "../../../src/audio/recordings/crc16.ts";

/** How a channel is written: order of a fixed predictor, or as it is; wasted low bits; Rice's parameter, `null` escapes. */
export interface FlacWay {
  readonly kind: "verbatim" | "constant" | "fixed";
  readonly order: number;
  readonly wasted: number;
  readonly rice: number | null;
  readonly partitionOrder: number;
}

class BitWriter {
  readonly #bits: number[] = [];

  write(value: number, count: number): this {
    for (let bit = count - 1; bit >= 0; bit -= 1) this.#bits.push(Math.floor(value / 2 ** bit) & 1);
    return this;
  }

  unary(zeros: number): this {
    for (let at = 0; at < zeros; at += 1) this.#bits.push(0);
    this.#bits.push(1);
    return this;
  }

  bytes(): Uint8Array {
    while (this.#bits.length % 8 !== 0) this.#bits.push(0);
    return Uint8Array.from({ length: this.#bits.length / 8 }, (_, at) =>
      this.#bits.slice(8 * at, 8 * at + 8).reduce((byte, bit) => byte * 2 + bit, 0),
    );
  }
}

const FIXED = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]];

function subframe(writer: BitWriter, samples: readonly number[], bits: number, way: FlacWay): void {
  const scaled = samples.map((sample) => sample / 2 ** way.wasted);
  const own = bits - way.wasted;
  const kind = way.kind === "constant" ? 0 : way.kind === "verbatim" ? 1 : 8 + way.order;
  writer.write(kind, 7).write(way.wasted === 0 ? 0 : 1, 1);
  if (way.wasted > 0) writer.unary(way.wasted - 1);
  if (way.kind === "constant") writer.write(scaled[0]! + (scaled[0]! < 0 ? 2 ** own : 0), own);
  const plain = way.kind === "verbatim" ? scaled : way.kind === "fixed" ? scaled.slice(0, way.order) : [];
  for (const sample of plain) writer.write(sample < 0 ? sample + 2 ** own : sample, own);
  if (way.kind !== "fixed") return;
  const residual = scaled.map((sample, at) =>
    FIXED[way.order]!.reduce((left, factor, back) => left - factor * (scaled[at - 1 - back] ?? 0), sample),
  );
  writer.write(0, 2).write(way.partitionOrder, 4);
  const size = samples.length / 2 ** way.partitionOrder;
  for (let from = 0; from < samples.length; from += size) {
    const part = residual.slice(Math.max(from, way.order), from + size);
    writer.write(way.rice ?? 15, 4);
    if (way.rice === null) writer.write(31, 5);
    for (const value of part) {
      if (way.rice === null) writer.write(value < 0 ? value + 2 ** 31 : value, 31);
      else {
        const folded = value < 0 ? -2 * value - 1 : 2 * value;
        writer.unary(Math.floor(folded / 2 ** way.rice)).write(folded % 2 ** way.rice, way.rice);
      }
    }
  }
}

/** A file of one frame: channels of 16 bits, or by one of three stereo assignments (8, 9, 10). */
export function flacFile(
  channels: readonly (readonly number[])[],
  assignment: number,
  ways: readonly FlacWay[],
): Uint8Array {
  const [left = [], right = []] = channels;
  const side = left.map((sample, at) => sample - right[at]!);
  const mid = left.map((sample, at) => (sample + right[at]!) >> 1);
  const coded = assignment === 8 ? [left, side] : assignment === 9 ? [side, right] : [mid, side];
  const written = assignment < 8 ? channels : coded;
  const isSide = (index: number) => (assignment === 9 ? index === 0 : assignment >= 8 && index === 1);
  const frame = new BitWriter().write(0x7ffc, 15).write(0, 1).write(7, 4).write(0, 4).write(assignment, 4);
  frame
    .write(4, 3)
    .write(0, 1)
    .write(0, 8)
    .write(left.length - 1, 16)
    .write(0, 8);
  for (const [index, samples] of written.entries()) {
    subframe(frame, samples, isSide(index) ? 17 : 16, ways[index]!);
  }
  const bytes = frame.bytes();
  const info = new BitWriter().write(16, 16).write(65_535, 16).write(0, 24).write(0, 24);
  info
    .write(16_000, 20)
    .write(channels.length - 1, 3)
    .write(15, 5)
    .write(0, 4)
    .write(left.length, 32);
  const sum = crc16(bytes);
  const parts = [
    Buffer.from("fLaC"),
    Buffer.of(0x80, 0, 0, 34),
    info.bytes(),
    new Uint8Array(16),
    bytes,
    Buffer.of(sum >> 8, sum & 255),
  ];
  return new Uint8Array(Buffer.concat(parts));
}
