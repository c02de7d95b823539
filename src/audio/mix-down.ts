import { AudioFormatError } from "./audio-format-error.ts";
import type { SampleKind } from "./wav-format.ts";

/**
 * Interleaved little-endian samples to one channel in [-1, 1]: the mean of each frame, clipped. Integers are scaled
 * by their most negative value, so that -1 is reached exactly. `data` holds at least `frames` whole frames.
 *
 * Throws {@link AudioFormatError} when a frame of floats is not a finite number.
 */
export function mixDown(data: DataView, kind: SampleKind, channels: number, frames: number): Float32Array {
  const bytesPerSample = BYTES_PER_SAMPLE[kind];
  const mono = new Float32Array(frames);
  let at = 0;
  for (let frame = 0; frame < frames; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      sum += sampleAt(data, at, kind);
      at += bytesPerSample;
    }
    const mean = sum / channels;
    if (!Number.isFinite(mean)) throw new AudioFormatError(`sample ${frame} is not a finite number`);
    mono[frame] = Math.max(-1, Math.min(1, mean));
  }
  return mono;
}

const BYTES_PER_SAMPLE: Readonly<Record<SampleKind, number>> = {
  u8: 1,
  s16: 2,
  s24: 3,
  s32: 4,
  f32: 4,
  f64: 8,
};

function sampleAt(data: DataView, at: number, kind: SampleKind): number {
  switch (kind) {
    case "u8":
      return (data.getUint8(at) - 0x80) / 0x80;
    case "s16":
      return data.getInt16(at, true) / 0x8000;
    case "s24":
      return ((data.getInt8(at + 2) << 16) | data.getUint16(at, true)) / 0x800000;
    case "s32":
      return data.getInt32(at, true) / 0x80000000;
    case "f32":
      return data.getFloat32(at, true);
    case "f64":
      return data.getFloat64(at, true);
  }
}
