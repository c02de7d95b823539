import { AudioFormatError } from "../audio-format-error.ts";
import { crc16 } from "../checksums.ts";
import { BitReader } from "./bit-reader.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import { readSubframe } from "./flac-subframe.ts";

/** What a stream of FLAC says of itself. */
export interface FlacFormat {
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly bitsPerSample: number;
}

/** A frame of FLAC, decoded. */
export interface FlacFrame {
  /** Samples of each channel, in memory that the next frame uses again. */
  readonly channels: readonly Int32Array[];
  /** Samples of each. */
  readonly count: number;
  /** What makes them lie in [-1, 1]. */
  readonly scale: number;
  /** Where the next one begins. */
  readonly end: number;
}

const MAX_BITS = 24;
/** By the code in a frame's header; 0 is the stream's own. */
const BITS: readonly (number | null)[] = [0, 8, 12, null, 16, 20, 24, 32];
const [LEFT_SIDE, SIDE_RIGHT, MID_SIDE] = [8, 9, 10];

/** Decodes frames, one at a time, each charged to the budget before it is. */
export class FlacFrameReader {
  readonly #bytes: Uint8Array;
  readonly #format: FlacFormat;
  readonly #budget: DecodingBudget;
  readonly #memory: Int32Array[] = [];

  constructor(bytes: Uint8Array, format: FlacFormat, budget: DecodingBudget) {
    this.#bytes = bytes;
    this.#format = format;
    this.#budget = budget;
  }

  /** The frame that begins at `at`. Throws {@link AudioFormatError} where none does, or it is cut off or damaged. */
  read(at: number): FlacFrame {
    const reader = new BitReader(this.#bytes, at);
    if (reader.read(15) !== 0x7ffc) {
      throw new AudioFormatError(`it is damaged at byte ${at}, where a frame of FLAC should begin`);
    }
    reader.read(1);
    const sizeCode = reader.read(4);
    const rateCode = reader.read(4);
    const assignment = reader.read(4);
    const ownBits = BITS[reader.read(3)] ?? -1;
    const bitsPerSample = ownBits === 0 ? this.#format.bitsPerSample : ownBits;
    reader.read(1);
    skipNumber(reader);
    const blockSize = readBlockSize(reader, sizeCode);
    if (rateCode >= 12) reader.read(rateCode === 12 ? 8 : 16);
    reader.read(8);
    reader.check();
    if (bitsPerSample > MAX_BITS) {
      throw new AudioFormatError(
        `it holds ${bitsPerSample}-bit samples, and up to ${MAX_BITS} can be read`,
        `send it with ${MAX_BITS} bits or fewer`,
      );
    }
    if (blockSize === 0 || assignment > MID_SIDE! || bitsPerSample < 4 || rateCode === 15) {
      throw new AudioFormatError(`it is damaged: the frame at byte ${at} has no meaning`);
    }
    const count = assignment < LEFT_SIDE! ? assignment + 1 : 2;
    this.#budget.chargeItems(1);
    this.#budget.chargeSound(blockSize, count, this.#format.sampleRateHz);
    const channels: Int32Array[] = [];
    for (let index = 0; index < count; index += 1) {
      const isSide = assignment === SIDE_RIGHT ? index === 0 : assignment >= LEFT_SIDE! && index === 1;
      const samples = this.#room(index, blockSize);
      readSubframe(reader, samples, bitsPerSample + (isSide ? 1 : 0), this.#budget);
      channels.push(samples);
    }
    reader.align();
    const end = reader.at + 2;
    reader.read(16);
    reader.check();
    if (crc16(this.#bytes.subarray(at, end)) !== 0) {
      throw new AudioFormatError(`its frame at byte ${at} is damaged`);
    }
    undoStereo(channels, assignment);
    return { channels, count: blockSize, scale: 2 ** (1 - bitsPerSample), end };
  }

  #room(channel: number, count: number): Int32Array {
    const memory = this.#memory[channel];
    if (memory !== undefined && memory.length >= count) return memory.subarray(0, count);
    const larger = new Int32Array(count);
    this.#memory[channel] = larger;
    return larger;
  }
}

/** The frame's or sample's number, which is as long as UTF-8 would write it; nobody needs it. */
function skipNumber(reader: BitReader): void {
  const first = reader.read(8);
  const following = Math.clz32(~(first << 24)) - 1;
  for (let index = 0; index < following; index += 1) reader.read(8);
}

function readBlockSize(reader: BitReader, code: number): number {
  if (code === 0) return 0;
  if (code === 1) return 192;
  if (code <= 5) return 576 << (code - 2);
  if (code === 6) return reader.read(8) + 1;
  if (code === 7) return reader.read(16) + 1;
  return 256 << (code - 8);
}

/** Left and right from one of them, or their mean, and their difference. */
function undoStereo([first, second]: readonly Int32Array[], assignment: number): void {
  if (assignment < LEFT_SIDE! || first === undefined || second === undefined) return;
  for (let at = 0; at < first.length; at += 1) {
    const a = first[at]!;
    const b = second[at]!;
    if (assignment === LEFT_SIDE) second[at] = a - b;
    else if (assignment === SIDE_RIGHT) first[at] = a + b;
    else {
      const sum = 2 * a + (b & 1);
      first[at] = (sum + b) >> 1;
      second[at] = (sum - b) >> 1;
    }
  }
}
