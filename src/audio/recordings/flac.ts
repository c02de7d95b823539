import { AudioFormatError } from "../audio-format-error.ts";
import { crc16 } from "../checksums.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import type { DecodedBlock, RecordingDecoder } from "./recording.ts";

/** Opens a FLAC file of up to 24 bits (RFC 9639). Throws as `openRecording` does. */
export function openFlac(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  const { format, samples, firstFrame } = readHead(bytes, budget);
  const { sampleRateHz } = format;
  budget.checkFormat(sampleRateHz, format.channels);
  budget.checkLength(samples / sampleRateHz);
  budget.checkWork(samples * format.channels);
  async function* blocks(): AsyncGenerator<DecodedBlock, void, void> {
    const reader = new FlacFrameReader(bytes, format, budget);
    let decoded = 0;
    for (let at = firstFrame; at < bytes.length && (samples === 0 || decoded < samples); ) {
      const { channels, count, scale, end } = reader.read(at);
      const to = samples === 0 ? count : Math.min(count, samples - decoded);
      decoded += to;
      at = end;
      yield { channels, from: 0, to, scale };
    }
    if (decoded < samples) {
      throw new AudioFormatError(`it is cut off: ${samples} samples are declared and ${decoded} are there`);
    }
  }
  return { sampleRateHz, boundS: samples === 0 ? budget.maxS : samples / sampleRateHz, blocks };
}

interface Head {
  readonly format: FlacFormat;
  /** Samples per channel; 0 if unknown. */
  readonly samples: number;
  readonly firstFrame: number;
}

const STREAM_INFO_BYTES = 34;

function readHead(bytes: Uint8Array, budget: DecodingBudget): Head {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: FlacFormat | null = null;
  let samples = 0;
  let at = 4;
  for (let isLast = false; !isLast; ) {
    budget.chargeItems(1);
    if (at + 4 > bytes.length) throw new AudioFormatError("it is cut off before its first frame");
    const kind = view.getUint8(at);
    const size = view.getUint32(at) & 0xff_ffff;
    isLast = (kind & 0x80) !== 0;
    at += 4;
    if (at + size > bytes.length) throw new AudioFormatError("it is cut off before its first frame");
    if ((kind & 0x7f) === 0 && size >= STREAM_INFO_BYTES) {
      const packed = view.getUint32(at + 10);
      format = {
        sampleRateHz: packed >>> 12,
        channels: ((packed >>> 9) & 7) + 1,
        bitsPerSample: ((packed >>> 4) & 31) + 1,
      };
      samples = (packed & 15) * 2 ** 32 + view.getUint32(at + 14);
    }
    at += size;
  }
  if (format === null) throw new AudioFormatError("its FLAC stream has no head");
  return { format, samples, firstFrame: at };
}

interface FlacFormat {
  readonly sampleRateHz: number;
  readonly channels: number;
  readonly bitsPerSample: number;
}

interface FlacFrame {
  /** One array per channel, reused by the next frame. */
  readonly channels: readonly Int32Array[];
  readonly count: number;
  /** Factor that scales them to [-1, 1]. */
  readonly scale: number;
  /** Byte offset of the next frame. */
  readonly end: number;
}

const MAX_BITS = 24;
/** Bits per sample by the code in a frame's header; 0 is the stream's own. */
const BITS: readonly (number | null)[] = [0, 8, 12, null, 16, 20, 24, 32];
const [LEFT_SIDE, SIDE_RIGHT, MID_SIDE] = [8, 9, 10];

/** Decodes frames one at a time, charging each to the budget first. */
class FlacFrameReader {
  readonly #bytes: Uint8Array;
  readonly #format: FlacFormat;
  readonly #budget: DecodingBudget;
  readonly #memory: Int32Array[] = [];

  constructor(bytes: Uint8Array, format: FlacFormat, budget: DecodingBudget) {
    this.#bytes = bytes;
    this.#format = format;
    this.#budget = budget;
  }

  /** Decodes the frame at `at`. Throws {@link AudioFormatError} if there is none, or it is cut off or damaged. */
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

/** Skips the frame's or sample's number, which is coded like UTF-8. */
function skipNumber(reader: BitReader): void {
  const following = Math.clz32(~(reader.read(8) << 24)) - 1;
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

/** Restores left and right from one of them, or their mean, and their difference. */
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

/** Decodes one channel of a frame into all of `samples`. Throws {@link AudioFormatError} for an invalid one. */
function readSubframe(
  reader: BitReader,
  samples: Int32Array,
  bitsPerSample: number,
  budget: DecodingBudget,
): void {
  const header = reader.read(8);
  const wasted = (header & 1) === 0 ? 0 : reader.readUnary() + 1;
  const bits = bitsPerSample - wasted;
  const kind = header >> 1;
  if (kind >= 64 || bits < 1) throw meaningless();
  if (kind === 0) samples.fill(reader.readSigned(bits));
  else if (kind === 1) readVerbatim(reader, samples, bits);
  else if (kind >= 8 && kind <= 12) readPredicted(reader, samples, bits, kind - 8, null, budget);
  else if (kind >= 32) readPredicted(reader, samples, bits, kind - 31, "own", budget);
  else throw meaningless();
  if (wasted > 0) for (let at = 0; at < samples.length; at += 1) samples[at]! <<= wasted;
}

function readVerbatim(reader: BitReader, samples: Int32Array, bits: number): void {
  for (let at = 0; at < samples.length; at += 1) samples[at] = reader.readSigned(bits);
}

/** Fixed predictors by order: factors of the previous sample, the one before that, and so on. */
const FIXED: readonly (readonly number[])[] = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]];

/** Products of the prediction that cost about as much as decoding a sample. */
const ORDERS_PER_UNIT = 8;

function readPredicted(
  reader: BitReader,
  samples: Int32Array,
  bits: number,
  order: number,
  predictor: "own" | null,
  budget: DecodingBudget,
): void {
  if (order > samples.length) throw meaningless();
  budget.chargeWork((samples.length * order) / ORDERS_PER_UNIT);
  for (let at = 0; at < order; at += 1) samples[at] = reader.readSigned(bits);
  let coefficients = FIXED[order] ?? [];
  let shift = 0;
  if (predictor === "own") {
    const precision = reader.read(4) + 1;
    shift = reader.readSigned(5);
    if (precision === 16 || shift < 0) throw meaningless();
    coefficients = Array.from({ length: order }, () => reader.readSigned(precision));
  }
  readResidual(reader, samples, order);
  predict(samples, Float64Array.from(coefficients), 2 ** -shift);
}

/** Decodes the Rice-coded residual, in partitions, into the place of the samples. */
function readResidual(reader: BitReader, samples: Int32Array, order: number): void {
  const method = reader.read(2);
  if (method > 1) throw meaningless();
  const parameterBits = method === 0 ? 4 : 5;
  const escapeCode = method === 0 ? 15 : 31;
  const partitionOrder = reader.read(4);
  const size = samples.length >> partitionOrder;
  if (size << partitionOrder !== samples.length || size < order) throw meaningless();
  let at = order;
  for (let end = size; end <= samples.length; end += size) {
    const parameter = reader.read(parameterBits);
    if (parameter === escapeCode) {
      const bits = reader.read(5);
      for (; at < end; at += 1) samples[at] = reader.readSigned(bits);
    } else {
      for (; at < end; at += 1) {
        const folded = reader.readUnary() * 2 ** parameter + reader.read(parameter);
        samples[at] = (folded >>> 1) ^ -(folded & 1);
      }
    }
    reader.check();
  }
}

/** Sums in floating point: sums have up to 45 bits, and are exact. */
function predict(samples: Int32Array, coefficients: Float64Array, factor: number): void {
  const order = coefficients.length;
  for (let at = order; at < samples.length; at += 1) {
    let sum = 0;
    for (let back = 0; back < order; back += 1) sum += coefficients[back]! * samples[at - 1 - back]!;
    samples[at] = samples[at]! + Math.floor(sum * factor);
  }
}

function meaningless(): AudioFormatError {
  return new AudioFormatError("it is damaged: a frame of FLAC has no meaning");
}

/** Reads bits, most significant first, and zeros past the end, until {@link BitReader.check}. */
class BitReader {
  readonly #bytes: Uint8Array;
  #byte: number;
  #bit = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#byte = at;
  }

  get at(): number {
    return this.#bit === 0 ? this.#byte : this.#byte + 1;
  }

  read(count: number): number {
    if (count === 0) return 0;
    const value = this.#next32() >>> (32 - count);
    this.#skip(count);
    return value;
  }

  readSigned(count: number): number {
    if (count === 0) return 0;
    const value = this.#next32() >> (32 - count);
    this.#skip(count);
    return value;
  }

  /** Counts the zeros before the next one, and reads past it. */
  readUnary(): number {
    let zeros = 0;
    for (;;) {
      const next = this.#next32();
      if (next !== 0) {
        const more = Math.clz32(next);
        this.#skip(more + 1);
        return zeros + more;
      }
      zeros += 32;
      this.#skip(32);
      this.check();
    }
  }

  align(): void {
    this.#byte = this.at;
    this.#bit = 0;
  }

  /** Throws {@link AudioFormatError} if more was read than there is. */
  check(): void {
    if (this.at > this.#bytes.length) throw new AudioFormatError("it is cut off in the middle of a frame");
  }

  #skip(bits: number): void {
    const to = this.#bit + bits;
    this.#byte += to >> 3;
    this.#bit = to & 7;
  }

  #next32(): number {
    const bytes = this.#bytes;
    const at = this.#byte;
    const whole = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    return this.#bit === 0 ? whole : (whole << this.#bit) | (bytes[at + 4]! >> (8 - this.#bit));
  }
}
