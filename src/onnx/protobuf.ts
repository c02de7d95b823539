/**
 * One field of a protocol-buffers message: a varint as a number, everything else as bytes. `fixed` is the wire type
 * of a fixed-width value.
 */
export interface Field {
  readonly number: number;
  readonly value: bigint | Uint8Array;
  readonly fixed?: 1 | 5;
}

/** Shift of the tenth byte of a varint, the last allowed. */
const MAX_SHIFT = 63n;

/** Splits a message into its fields, in order; nested messages stay bytes. @throws Error when it is truncated. */
export function decodeMessage(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const next = (): number => {
    const byte = bytes[at++];
    if (byte === undefined) throw new Error("The file is cut short.");
    return byte;
  };
  const varint = (): bigint => {
    let byte = next();
    if (byte < 0x80) return BigInt(byte);
    let value = BigInt(byte & 0x7f);
    for (let shift = 7n; byte >= 0x80; shift += 7n) {
      if (shift > MAX_SHIFT) throw new Error("The file has a number of more than 64 bits.");
      byte = next();
      value |= BigInt(byte & 0x7f) << shift;
    }
    return value;
  };
  /** Reads a tag or length. */
  const small = (): number => {
    const byte = next();
    if (byte < 0x80) return byte;
    at -= 1;
    return Number(varint());
  };
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new Error("The file is cut short.");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = small();
    const number = tag >>> 3;
    const wireType = tag & 7;
    if (wireType === 0) fields.push({ number, value: varint() });
    else if (wireType === 1) fields.push({ number, value: take(8), fixed: 1 });
    else if (wireType === 2) fields.push({ number, value: take(small()) });
    else if (wireType === 5) fields.push({ number, value: take(4), fixed: 5 });
    else throw new Error(`The file has a field of unknown wire type ${wireType}.`);
  }
  return fields;
}

export function encodeMessage(fields: readonly Field[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { number, value, fixed } of fields) {
    if (typeof value === "bigint") parts.push(varint(number << 3), varint(value));
    else if (fixed !== undefined) parts.push(varint((number << 3) | fixed), value);
    else parts.push(varint((number << 3) | 2), varint(value.length), value);
  }
  return concatenate(parts);
}

export function text(number: number, value: string): Field {
  return { number, value: ENCODER.encode(value) };
}

/** Encodes an integer field; negative numbers as int64. */
export function integer(number: number, value: number): Field {
  return { number, value: BigInt.asUintN(64, BigInt(value)) };
}

export function message(number: number, fields: readonly Field[]): Field {
  return { number, value: encodeMessage(fields) };
}

export function textsOf(fields: readonly Field[], number: number): string[] {
  return bytesOf(fields, number).map((value) => DECODER.decode(value));
}

export function bytesOf(fields: readonly Field[], number: number): Uint8Array[] {
  return fields.flatMap(({ number: n, value }) => (n === number && typeof value !== "bigint" ? [value] : []));
}

/** Returns the integers of all fields of that number, packed or not. */
export function integersOf(fields: readonly Field[], number: number): bigint[] {
  return fields.flatMap(({ number: n, value }) => {
    if (n !== number) return [];
    return typeof value === "bigint" ? [value] : unpacked(value);
  });
}

function unpacked(bytes: Uint8Array): bigint[] {
  const values: bigint[] = [];
  let value = 0n;
  let shift = 0n;
  for (const byte of bytes) {
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte >= 0x80) continue;
    values.push(value);
    value = 0n;
    shift = 0n;
  }
  if (shift > 0n) throw new Error("The file is cut short.");
  return values;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
const ONE_BYTE = Array.from({ length: 0x80 }, (_, byte) => Uint8Array.of(byte));

/** Encodes a non-negative integer in base 128, lowest group first. */
export function varint(value: bigint | number): Uint8Array {
  if (value < 0x80) return ONE_BYTE[Number(value)]!;
  const bytes: number[] = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest < 0x80n) return Uint8Array.from([...bytes, low]);
    bytes.push(low | 0x80);
  }
}

export function concatenate(parts: readonly ArrayLike<number>[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
