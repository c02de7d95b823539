/**
 * WebAssembly instructions, including SIMD (Core Specification 2.0, chapter 5; the numbers are opcodes). An
 * expression is code that leaves one value on the stack. WebAssembly is used because its float arithmetic is
 * bit-exact on every machine. Code stays nested and is flattened once.
 */
export type Code = readonly (number | Code)[];

const binary =
  (...opcode: number[]) =>
  (a: Code, b: Code): Code => [a, b, opcode];
const unary =
  (...opcode: number[]) =>
  (a: Code): Code => [a, opcode];
const simdBinary = (opcode: number) => binary(0xfd, ...unsigned(opcode));
const simdUnary = (opcode: number) => unary(0xfd, ...unsigned(opcode));
const access =
  (...opcode: number[]) =>
  (address: Code, offset = 0): Code => [address, opcode, 0x02, ...unsigned(offset)];
/** Alignment hint of 2 bytes: a hint above the access width is invalid. */
const narrowAccess =
  (...opcode: number[]) =>
  (address: Code, offset = 0): Code => [address, opcode, 0x01, ...unsigned(offset)];
const storing =
  (...opcode: number[]) =>
  (address: Code, value: Code, offset = 0): Code => [address, value, opcode, 0x02, ...unsigned(offset)];

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(value)],
  load: access(0x28),
  /** Zero-extends 16 bits. */
  load16: narrowAccess(0x2f),
  isZero: unary(0x45),
  lessThan: binary(0x48),
  trailingZeros: unary(0x68),
  add: binary(0x6a),
  sub: binary(0x6b),
  mul: binary(0x6c),
  and: binary(0x71),
  or: binary(0x72),
  shiftLeft: binary(0x74),
  /** `a` if the condition is not zero, otherwise `b`; evaluates both. */
  select: (a: Code, b: Code, condition: Code): Code => [a, b, condition, 0x1b],
};

export const f32 = {
  load: access(0x2a),
  store: storing(0x38),
  const: (value: number): Code => [0x43, ...new Uint8Array(Float32Array.of(value).buffer)],
  add: binary(0x92),
  sub: binary(0x93),
  fromF64: unary(0xb6),
  fromBits: unary(0xbe),
};

export const f64 = {
  const: (value: number): Code => [0x44, ...new Uint8Array(Float64Array.of(value).buffer)],
  fromI32: unary(0xb7),
  fromF32: unary(0xbb),
  equal: binary(0x61),
  floor: unary(0x9c),
  add: binary(0xa0),
  sub: binary(0xa1),
  mul: binary(0xa2),
  div: binary(0xa3),
  max: binary(0xa5),
  select: i32.select,
};

export const v128 = {
  load: access(0xfd, 0x00),
  /** Loads one float32 into all four lanes. */
  loadSplat: access(0xfd, 0x09),
  store: storing(0xfd, 0x0b),
  /** Picks four of eight lanes: 0 to 3 of `a`, 4 to 7 of `b`. */
  lanes: (a: Code, b: Code, picks: readonly number[]): Code => [
    a,
    b,
    ...[0xfd, 0x0d],
    ...picks.flatMap((pick) => [4 * pick, 4 * pick + 1, 4 * pick + 2, 4 * pick + 3]),
  ],
  and: simdBinary(0x4e),
  or: simdBinary(0x50),
  xor: simdBinary(0x51),
  /** Bits of `a` where `mask` is 1, of `b` elsewhere. */
  select: (a: Code, b: Code, mask: Code): Code => [a, b, mask, 0xfd, 0x52],
};

export const f32x4 = {
  const: (value: number): Code => f32x4.of(value, value, value, value),
  of: (...lanes: readonly [number, number, number, number]): Code => [
    ...[0xfd, 0x0c],
    ...new Uint8Array(Float32Array.from(lanes).buffer),
  ],
  greaterThan: simdBinary(0x44),
  floor: simdUnary(0x68),
  negate: simdUnary(0xe1),
  abs: simdUnary(0xe0),
  add: simdBinary(0xe4),
  sub: simdBinary(0xe5),
  mul: simdBinary(0xe6),
  div: simdBinary(0xe7),
  /** Single instructions, unlike min and max; their result for NaN is unspecified. */
  pmin: simdBinary(0xea),
  pmax: simdBinary(0xeb),
  fromI32: simdUnary(0xfa),
};

export const f64x2 = {
  const: (value: number): Code => [0xfd, 0x0c, ...new Uint8Array(Float64Array.of(value, value).buffer)],
  splat: simdUnary(0x14),
  /** Converts the two lower float32 lanes. */
  fromLowF32: simdUnary(0x5f),
  floor: simdUnary(0x75),
  add: simdBinary(0xf0),
  mul: simdBinary(0xf2),
};

export const i8x16 = {
  const: (value: number): Code => [0xfd, 0x0c, ...Array<number>(16).fill(value)],
  /** Sign bits of the lanes. */
  bitmask: simdUnary(0x64),
  /** Saturates eight lanes of `a` and eight of `b`. */
  narrow: simdBinary(0x65),
  narrowUnsigned: simdBinary(0x66),
  minUnsigned: simdBinary(0x77),
};

export const i16x8 = {
  const: (value: number): Code => [
    ...[0xfd, 0x0c],
    ...new Uint8Array(Uint16Array.from({ length: 8 }, () => value).buffer),
  ],
  /** Saturates four lanes of `a` and four of `b`. */
  narrow: simdBinary(0x85),
  shiftRightUnsigned: (a: Code, bits: number): Code => [a, i32.const(bits), 0xfd, ...unsigned(0x8d)],
};

export const i32x4 = {
  const: (...lanes: readonly [number, number, number, number]): Code => [
    ...[0xfd, 0x0c],
    ...new Uint8Array(Int32Array.from(lanes).buffer),
  ],
  lane: (a: Code, lane: number): Code => [a, 0xfd, 0x1b, lane],
  equal: simdBinary(0x37),
  /** Zero-extends the four lower, or upper, of eight 16-bit lanes. */
  fromLow16: simdUnary(0xa9),
  fromHigh16: simdUnary(0xaa),
  max: simdBinary(0xb8),
  splat: simdUnary(0x11),
  shiftLeft: (a: Code, bits: number): Code => [a, i32.const(bits), 0xfd, ...unsigned(0xab)],
  shiftRight: (a: Code, bits: number): Code => [a, i32.const(bits), 0xfd, ...unsigned(0xac)],
  shiftRightUnsigned: (a: Code, bits: number): Code => [a, i32.const(bits), 0xfd, ...unsigned(0xad)],
  add: simdBinary(0xae),
  mul: simdBinary(0xb5),
};

/** Unsigned LEB128: counts and addresses. */
export function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** Signed LEB128: constants. */
function signed(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  return (rest === 0 && low < 0x40) || (rest === -1 && low >= 0x40) ? [low] : [low | 0x80, ...signed(rest)];
}
