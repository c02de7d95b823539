/** Two tones, a sufficient voice for tiny models. */
export function voiceClip(pitchHz: number, durationS = 0.5): Float32Array {
  const wave = (at: number, hz: number): number => Math.sin((2 * Math.PI * hz * at) / 24_000);
  return Float32Array.from(
    { length: durationS * 24_000 },
    (_, at) => 0.3 * wave(at, pitchHz) + 0.1 * wave(at, 3.7 * pitchHz),
  );
}
