import { crc8, crc16 } from "../../../src/audio/checksums.ts";
import { codedNumber } from "../../../src/audio/encode/flac.ts";

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
    const bytes = new Uint8Array(this.#bits.length / 8);
    for (const [at, bit] of this.#bits.entries()) bytes[at >> 3]! |= bit << (7 - (at & 7));
    return bytes;
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

export interface FlacHead {
  readonly rateHz: number;
  readonly channels: number;
  readonly bits: 8 | 16;
  /** Per channel; 0 if unknown. */
  readonly samples: number;
}

/** The marker and the STREAMINFO block. */
export function flacHead({ rateHz, channels, bits, samples }: FlacHead): Buffer {
  const info = new BitWriter().write(16, 16).write(65_535, 16).write(0, 24).write(0, 24);
  info
    .write(rateHz, 20)
    .write(channels - 1, 3)
    .write(bits - 1, 5)
    .write(samples, 36);
  return Buffer.concat([Buffer.from("fLaC"), Buffer.of(0x80, 0, 0, 34), info.bytes(), new Uint8Array(16)]);
}

/** Rates with a frame code, from 4 on. */
const CODED_RATES = [8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];

export function flacFrameHead(
  { rateHz, bits }: Pick<FlacHead, "rateHz" | "bits">,
  index: number,
  length: number,
  assignment: number,
): Buffer {
  const rate = CODED_RATES.indexOf(rateHz);
  const head = Buffer.concat([
    Buffer.of(0xff, 0xf8, 0x70 | (rate < 0 ? 0 : 4 + rate), (assignment << 4) | (bits === 8 ? 2 : 8)),
    Buffer.of(...codedNumber(index), (length - 1) >> 8, (length - 1) & 255),
  ]);
  return Buffer.concat([head, Buffer.of(crc8(head))]);
}

export function flacFrame(head: Uint8Array, subframes: Uint8Array): Buffer {
  const frame = Buffer.concat([head, subframes, Buffer.alloc(2)]);
  frame.writeUInt16BE(crc16(frame.subarray(0, -2)), frame.length - 2);
  return frame;
}

/** A file of one frame: 16-bit channels, or one of three stereo modes (8, 9, 10). */
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
  const subframes = new BitWriter();
  for (const [index, samples] of written.entries())
    subframe(subframes, samples, isSide(index) ? 17 : 16, ways[index]!);
  const head = { rateHz: 16_000, channels: channels.length, bits: 16, samples: left.length } as const;
  const frame = flacFrame(flacFrameHead(head, 0, left.length, assignment), subframes.bytes());
  return new Uint8Array(Buffer.concat([flacHead(head), frame]));
}
