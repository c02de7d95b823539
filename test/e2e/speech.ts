import assert from "node:assert/strict";

/** Checks that bytes are a 24 kHz mono 16-bit WAV with speech, and returns its samples. */
export function assertSpeech(wav: Uint8Array): Int16Array {
  const bytes = Buffer.from(wav);
  assert.equal(bytes.toString("latin1", 0, 4), "RIFF");
  assert.equal(bytes.toString("latin1", 8, 16), "WAVEfmt ");
  const header = {
    format: bytes.readUInt16LE(20),
    channels: bytes.readUInt16LE(22),
    rateHz: bytes.readUInt32LE(24),
    bits: bytes.readUInt16LE(34),
    riffBytes: bytes.readUInt32LE(4),
    dataBytes: bytes.readUInt32LE(40),
  };
  const dataBytes = bytes.length - 44;
  assert.deepEqual(header, {
    format: 1,
    channels: 1,
    rateHz: 24_000,
    bits: 16,
    riffBytes: dataBytes + 36,
    dataBytes,
  });
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
