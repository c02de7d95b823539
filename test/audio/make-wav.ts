export type Encoding = "u8" | "s16" | "s24" | "s32" | "f32" | "f64";

/** A WAV file, built independently of the code under test. Every field may be wrong. */
export interface WavRecipe {
  readonly encoding: Encoding;
  readonly rateHz: number;
  /** One array per channel, of equal length, in the encoding's numbers. */
  readonly channels: readonly (readonly number[])[];
  readonly extensible?: boolean;
  readonly before?: readonly Chunk[];
  readonly after?: readonly Chunk[];
  readonly riffSize?: number;
  readonly dataSize?: number;
}

export interface Chunk {
  readonly id: string;
  readonly body: Uint8Array;
}

export const ENCODINGS: readonly Encoding[] = ["u8", "s16", "s24", "s32", "f32", "f64"];

/** Storage of a sample, and the divisor for full scale. */
export const LAYOUT: Readonly<Record<Encoding, { bytes: number; tag: number; scale: number }>> = {
  u8: { bytes: 1, tag: 1, scale: 0x80 },
  s16: { bytes: 2, tag: 1, scale: 0x8000 },
  s24: { bytes: 3, tag: 1, scale: 0x800000 },
  s32: { bytes: 4, tag: 1, scale: 0x80000000 },
  f32: { bytes: 4, tag: 3, scale: 1 },
  f64: { bytes: 8, tag: 3, scale: 1 },
};

export function makeWav(recipe: WavRecipe): Buffer {
  const data = interleave(recipe);
  const body = Buffer.concat([
    Buffer.from("WAVE"),
    ...(recipe.before ?? []).map((chunk) => makeChunk(chunk)),
    makeChunk({ id: "fmt ", body: formatBody(recipe) }),
    makeChunk({ id: "data", body: data }, recipe.dataSize ?? data.length),
    ...(recipe.after ?? []).map((chunk) => makeChunk(chunk)),
  ]);
  return Buffer.concat([Buffer.from("RIFF"), uint32(recipe.riffSize ?? body.length), body]);
}

/** A chunk with its pad byte; `size` may be wrong. */
export function makeChunk({ id, body }: Chunk, size = body.length): Buffer {
  const pad = Buffer.alloc(body.length % 2, 0xee);
  return Buffer.concat([Buffer.from(id, "latin1"), uint32(size), body, pad]);
}

export function formatBody({ encoding, rateHz, channels, extensible }: WavRecipe): Buffer {
  const { bytes, tag } = LAYOUT[encoding];
  const block = bytes * channels.length;
  const body = Buffer.alloc(extensible ? 40 : 16);
  body.writeUInt16LE(extensible ? 0xfffe : tag, 0);
  body.writeUInt16LE(channels.length, 2);
  body.writeUInt32LE(rateHz, 4);
  body.writeUInt32LE((rateHz * block) >>> 0, 8);
  body.writeUInt16LE(block, 12);
  body.writeUInt16LE(8 * bytes, 14);
  if (extensible) {
    body.writeUInt16LE(22, 16);
    body.writeUInt16LE(8 * bytes, 18);
    body.writeUInt16LE(tag, 24);
    body.set(Buffer.from("000000001000800000aa00389b71", "hex"), 26);
  }
  return body;
}

function interleave({ encoding, channels }: WavRecipe): Buffer {
  const { bytes } = LAYOUT[encoding];
  const frames = channels[0]?.length ?? 0;
  const data = Buffer.alloc(frames * channels.length * bytes);
  let at = 0;
  for (let frame = 0; frame < frames; frame += 1) {
    for (const channel of channels) {
      const value = channel[frame]!;
      if (encoding === "u8") data.writeUInt8(value, at);
      else if (encoding === "f32") data.writeFloatLE(value, at);
      else if (encoding === "f64") data.writeDoubleLE(value, at);
      else data.writeIntLE(value, at, bytes);
      at += bytes;
    }
  }
  return data;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
