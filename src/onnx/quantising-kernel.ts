import { assemble, FunctionBody } from "./assemble-wasm.ts";
import { BYTES, type FloatType } from "./variable.ts";
import { type Code, f32, f32x4, f64, f64x2, i8x16, i16x8, i32, i32x4, v128 } from "./wasm-instructions.ts";

/**
 * Block size of onnxruntime's `MatMulNBits`, with which a product does not depend on the rest of a batch. Rows are
 * blocked separately; each block has a float32 scale and a zero point at half the range. 8 bits: the largest
 * magnitude becomes ±127. 4 bits: the first number of the largest magnitude becomes -8, whatever its sign, since +8
 * does not exist; the first of two numbers is the lower half of a byte.
 */
export const BLOCK = 32;

export type Bits = 4 | 8;

/** Returns blocks per row; the last one is zero-padded. */
export function blocksIn(columns: number): number {
  return Math.ceil(columns / BLOCK);
}

export function blockBytes(bits: Bits): number {
  return (BLOCK * bits) / 8;
}

/**
 * Quantises consecutive blocks.
 *
 * @param from address of the numbers, a multiple of 16; `data` and `scales` are the destinations
 * @param blocks at least 1
 * @returns the largest magnitude, as the bits of a float32
 */
export type QuantiseBlocks = (from: number, blocks: number, data: number, scales: number) => number;

/** A function per number type and bit width. */
export interface QuantisingKernel {
  readonly memory: ArrayBuffer;
  of(type: FloatType, bits: Bits): QuantiseBlocks;
}

/** Result of {@link QuantiseBlocks} from which a number was infinite or NaN. */
export const NOT_FINITE: Readonly<Record<FloatType, number>> = {
  float32: 0x7f80_0000,
  bfloat16: 0x7f80_0000,
  // 65,536: what half-precision infinities convert to.
  float16: 0x4780_0000,
};

/** @param bytes of kernel memory */
export async function createQuantisingKernel(bytes: number): Promise<QuantisingKernel> {
  const kinds = (Object.keys(BYTES) as FloatType[]).flatMap((type) =>
    ([4, 8] as const).map((bits) => ({ type, bits })),
  );
  const pages = Math.ceil(bytes / 65_536);
  const code = assemble(
    kinds.map(({ type, bits }) => quantising(type, bits)),
    pages,
  );
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { instance } = await WebAssembly.instantiate(code, { host: { memory } });
  return {
    memory: memory.buffer,
    of: (type, bits) => instance.exports[nameOf(type, bits)] as QuantiseBlocks,
  };
}

const VECTOR = 16;
const LANES = 4;
const VECTORS = BLOCK / LANES;

const nameOf = (type: FloatType, bits: Bits): string => `${type} to ${bits}`;

/** Builds the function that quantises one block per iteration, bit-exact to the definition at {@link BLOCK}. */
function quantising(type: FloatType, bits: Bits): FunctionBody {
  const body = new FunctionBody(nameOf(type, bits), ["i32", "i32", "i32", "i32"], "i32");
  const [from, blocks, data, scales] = [0, 1, 2, 3].map((index) => body.parameter(index).get) as [
    Code,
    Code,
    Code,
    Code,
  ];
  const max = body.local("v128");
  body.loop(0, blocks, 1, (block) => {
    const at = body.keep(i32.add(from, i32.mul(block, i32.const(BLOCK * BYTES[type]))), "i32");
    const numbers = widenedBlock(body, type, at);
    const sizes = numbers.map((vector) => body.keep(v128.and(vector, MAGNITUDE)));
    const largest = maxOfLanes(body, sizes);
    max.set(i32x4.max(max.get, largest));
    const scale = body.keep(f32.fromF64(exactScale(body, type, bits, at, sizes, largest)), "f32");
    body.emit(f32.store(i32.add(scales, i32.shiftLeft(block, i32.const(2))), scale));
    const wide = body.keep(f64.fromF32(scale), "f64");
    const inverse = f64.select(f64.const(0), f64.div(f64.const(1), wide), f64.equal(wide, f64.const(0)));
    const inverses = body.keep(f64x2.splat(inverse));
    const codes = numbers.map((vector) => codesOf(body, bits, vector, inverses));
    const to = body.keep(i32.add(data, i32.mul(block, i32.const((BLOCK * bits) / 8))), "i32");
    const halves = [0, 4].map((first) => body.keep(asBytes(codes.slice(first, first + 4), bits)));
    if (bits === 8) {
      for (const [index, half] of halves.entries()) body.emit(v128.store(to, half, index * VECTOR));
    } else {
      const [low, high] = halves.map((half) => body.keep(pairs(half))) as [Code, Code];
      body.emit(v128.store(to, i8x16.narrowUnsigned(low, high)));
    }
  });
  body.emit(i32x4.lane(max.get, 0));
  return body;
}

const SIGN = 0x8000_0000 | 0;
const MAGNITUDE = i32x4.const(0x7fff_ffff, 0x7fff_ffff, 0x7fff_ffff, 0x7fff_ffff);

/** Loads a block as float32, four numbers per vector. */
function widenedBlock(body: FunctionBody, type: FloatType, at: Code): Code[] {
  return Array.from({ length: VECTORS }, (_, index) => {
    if (type === "float32") return body.keep(v128.load(at, index * VECTOR));
    const eight = v128.load(at, (index >> 1) * VECTOR);
    const words = body.keep(index % 2 === 0 ? i32x4.fromLow16(eight) : i32x4.fromHigh16(eight));
    return body.keep(type === "bfloat16" ? i32x4.shiftLeft(words, 16) : fromHalf(words));
  });
}

/** Half precision is float32 with an exponent offset of 112: exact, subnormals included. */
function fromHalf(words: Code): Code {
  const each = (value: number): Code => i32x4.const(value, value, value, value);
  const size = f32x4.mul(i32x4.shiftLeft(v128.and(words, each(0x7fff)), 13), f32x4.const(2 ** 112));
  return v128.or(size, i32x4.shiftLeft(v128.and(words, each(0x8000)), 16));
}

/** Returns the maximum in all lanes. Magnitudes compare as integers as they do as float32. */
function maxOfLanes(body: FunctionBody, sizes: readonly Code[]): Code {
  let largest = sizes[0]!;
  for (const size of sizes.slice(1)) largest = i32x4.max(largest, size);
  largest = body.keep(largest);
  largest = body.keep(i32x4.max(largest, v128.lanes(largest, largest, [2, 3, 0, 1])));
  return body.keep(i32x4.max(largest, v128.lanes(largest, largest, [1, 0, 3, 2])));
}

/** Returns the scale as float64, not yet rounded. */
function exactScale(
  body: FunctionBody,
  type: FloatType,
  bits: Bits,
  at: Code,
  sizes: readonly Code[],
  largest: Code,
): Code {
  const size = body.keep(i32x4.lane(largest, 0), "i32");
  const asF64 = (word: Code): Code => f64.fromF32(f32.fromBits(word));
  if (bits === 8) return f64.div(asF64(size), f64.const(127));
  // The sign of the first maximum counts, except that of a zero.
  const equal = sizes.map((each) => body.keep(i32x4.equal(each, largest)));
  const place = body.keep(
    i32.trailingZeros(
      i32.or(
        i8x16.bitmask(inBytes(equal)),
        i32.shiftLeft(i8x16.bitmask(inBytes(equal.slice(4))), i32.const(16)),
      ),
    ),
    "i32",
  );
  const word =
    type === "float32"
      ? i32.load(i32.add(at, i32.shiftLeft(place, i32.const(2))))
      : i32.shiftLeft(i32.load16(i32.add(at, i32.shiftLeft(place, i32.const(1)))), i32.const(16));
  const sign = i32.and(word, i32.select(i32.const(SIGN), i32.const(0), size));
  return f64.div(asF64(i32.or(size, sign)), f64.const(-8));
}

/** Packs the first four vectors into sixteen bytes. */
function inBytes(vectors: readonly Code[]): Code {
  const [a, b, c, d] = vectors as readonly [Code, Code, Code, Code];
  return i8x16.narrow(i16x8.narrow(a, b), i16x8.narrow(c, d));
}

/** Added to an integral float64, it puts that number into the lower half of its bits. */
const WHOLE = 1.5 * 2 ** 52;

/** Rounds four numbers to codes, in float64. */
function codesOf(body: FunctionBody, bits: Bits, vector: Code, inverses: Code): Code {
  const zero = f64x2.const(2 ** (bits - 1));
  const [low, high] = [vector, v128.lanes(vector, vector, [2, 3, 2, 3])].map((two) => {
    const scaled = f64x2.mul(f64x2.fromLowF32(two), inverses);
    const rounded = f64x2.floor(f64x2.add(f64x2.add(scaled, zero), f64x2.const(0.5)));
    return body.keep(f64x2.add(rounded, f64x2.const(WHOLE)));
  }) as [Code, Code];
  return body.keep(v128.lanes(low, high, [0, 2, 4, 6]));
}

/** Saturates sixteen codes to the bit width. */
function asBytes(codes: readonly Code[], bits: Bits): Code {
  const [a, b, c, d] = codes as readonly [Code, Code, Code, Code];
  const bytes = i8x16.narrowUnsigned(i16x8.narrow(a, b), i16x8.narrow(c, d));
  return bits === 8 ? bytes : i8x16.minUnsigned(bytes, i8x16.const(15));
}

/** Packs pairs of 4-bit codes into bytes, in every 16 bits. */
function pairs(bytes: Code): Code {
  const upper = v128.and(i16x8.shiftRightUnsigned(bytes, 4), i16x8.const(0xf0));
  return v128.or(v128.and(bytes, i16x8.const(0x0f)), upper);
}
