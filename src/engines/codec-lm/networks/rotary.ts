/** How far positions turn queries and keys (Su et al., "RoFormer", 2021). */
export interface Rotary {
  readonly theta: number;
  /** Llama 3's stretching to longer texts, `rope_type` "llama3"; `null`: none. */
  readonly stretched: {
    readonly factor: number;
    readonly lowFactor: number;
    readonly highFactor: number;
    readonly originalPositions: number;
  } | null;
}

/** The angle a position turns each pair of a head's numbers by; `width` / 2 of them. */
export function inverseFrequencies(width: number, { theta, stretched }: Rotary): Float64Array {
  const frequencies = Float64Array.from({ length: width / 2 }, (_, at) => theta ** ((-2 * at) / width));
  if (stretched === null) return frequencies;
  const { factor, lowFactor, highFactor, originalPositions } = stretched;
  return frequencies.map((frequency) => {
    const turns = (originalPositions * frequency) / (2 * Math.PI);
    if (turns < lowFactor) return frequency / factor;
    if (turns > highFactor) return frequency;
    const share = (turns - lowFactor) / (highFactor - lowFactor);
    return (frequency * (1 - share)) / factor + frequency * share;
  });
}

/** Cosines and sines of the first positions' angles, each [positions, width / 2]. */
export function rotaryTables(
  positions: number,
  width: number,
  rotary: Rotary,
): { readonly cosines: Float32Array; readonly sines: Float32Array } {
  const frequencies = inverseFrequencies(width, rotary).map(Math.fround);
  const half = width / 2;
  const cosines = new Float32Array(positions * half);
  const sines = new Float32Array(positions * half);
  for (let at = 0; at < cosines.length; at++) {
    const angle = Math.floor(at / half) * frequencies[at % half]!;
    cosines[at] = Math.cos(angle);
    sines[at] = Math.sin(angle);
  }
  return { cosines, sines };
}
