/** A 16-bit sample as the byte that ITU-T G.711 makes of it. */
export type Companding = (sample: number) => number;

/** The code of North America and Japan: a sign, three bits of exponent, four of mantissa, all inverted. */
export function mulaw(sample: number): number {
  const biased = Math.min(Math.abs(sample), MAX_LEVEL) + MULAW_BIAS;
  const exponent = 24 - Math.clz32(biased);
  const mantissa = (biased >> (exponent + 3)) & 0x0f;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
}

/** The code of the rest of the world: the same with a linear beginning, and every other bit inverted. */
export function alaw(sample: number): number {
  const level = Math.min(Math.abs(sample), MAX_LEVEL);
  const exponent = Math.max(0, 24 - Math.clz32(level));
  const mantissa = (level >> Math.max(4, exponent + 3)) & 0x0f;
  return ((sample < 0 ? 0 : 0x80) | (exponent << 4) | mantissa) ^ 0x55;
}

const MAX_LEVEL = 32_635;
const MULAW_BIAS = 132;

/** The 16-bit sample in the middle of what {@link mulaw} makes one byte of. */
export function expandMulaw(byte: number): number {
  const code = ~byte & 0xff;
  const level = ((((code & 0x0f) << 3) + MULAW_BIAS) << ((code >> 4) & 7)) - MULAW_BIAS;
  return (code & 0x80) === 0 ? level : -level;
}

/** The same of {@link alaw}. */
export function expandAlaw(byte: number): number {
  const code = byte ^ 0x55;
  const exponent = (code >> 4) & 7;
  const step = ((code & 0x0f) << 4) + 8;
  const level = exponent === 0 ? step : (step + 0x100) << (exponent - 1);
  return (code & 0x80) === 0 ? -level : level;
}
