import assert from "node:assert/strict";

/** Checks that bytes are a 24 kHz mono 16-bit WAV with speech, and returns its samples. */
export function assertSpeech(wav: Uint8Array): Int16Array {
  const bytes = Buffer.from(wav);
  assert.equal(bytes.toString("latin1", 0, 4), "RIFF");
  assert.equal(bytes.toString("latin1", 8, 16), "WAVEfmt ");
  const dataBytes = bytes.length - 44;
  const [format, channels, bits] = [20, 22, 34].map((at) => bytes.readUInt16LE(at));
  assert.deepEqual({ format, channels, bits }, { format: 1, channels: 1, bits: 16 });
  const sizes = [24, 4, 40].map((at) => bytes.readUInt32LE(at));
  assert.deepEqual(sizes, [24_000, dataBytes + 36, dataBytes]);
  const samples = new Int16Array(dataBytes / 2);
  for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(44 + 2 * i);
  assert.ok(samples.length > 12_000, `${samples.length} samples are no half second`);
  const level = rms(samples);
  assert.ok(level > 300 && level < 20_000, `an RMS of ${level} is no speech`);
  return samples;
}

export function rms(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}
