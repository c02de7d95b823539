const FULL_SCALE = 32_767;

/** Converts samples in [-1, 1] to 16-bit PCM: clipped, scaled by 32767, rounded; NaN becomes silence. */
export function toPcm16(samples: Float32Array): Int16Array {
  const pcm = new Int16Array(samples.length);
  for (let i = 0; i < samples.length; i += 1) {
    const value = samples[i]!;
    pcm[i] = value >= 1 ? FULL_SCALE : value <= -1 ? -FULL_SCALE : Math.round(value * FULL_SCALE);
  }
  return pcm;
}

/** Converts 16-bit PCM to samples in [-1, 1]. {@link toPcm16} restores the same numbers, except -32768. */
export function fromPcm16(pcm: Int16Array): Float32Array {
  const samples = new Float32Array(pcm.length);
  for (let i = 0; i < pcm.length; i += 1) samples[i] = Math.max(-1, pcm[i]! / FULL_SCALE);
  return samples;
}

/** Returns the bytes of 16-bit PCM, little-endian on any host: a view, not a copy, on little-endian hosts. */
export function pcm16Bytes(pcm: Int16Array): Uint8Array {
  const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return HOST_IS_LITTLE_ENDIAN ? bytes : Buffer.from(bytes).swap16();
}

const HOST_IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Concatenates arrays. */
export function joinSamples(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Concatenates bytes. Unlike `Buffer.concat` it works in browsers. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
