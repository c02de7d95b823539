/** Each purpose has its own stream, so that none shifts another. */
export type RandomPurpose = "delivery" | "rhythm" | "drift" | "noise";

export interface Random {
  /** Returns the next 32 bits, unsigned. */
  bits(): number;
  uniform(): number;
  /** Nearly normal, mean 0, variance 1, never beyond ±2.2: the sum of four uniform numbers. */
  nearNormal(): number;
}

/** Creates a stream for a seed, sentence and purpose (sfc32; Doty-Humphrey, PractRand, 2014). */
export function createRandom(seed: bigint, sentence: number, purpose: RandomPurpose): Random {
  let a = Number(BigInt.asUintN(32, seed)) | 0;
  let b = Number(BigInt.asUintN(32, seed >> 32n)) | 0;
  let c = (sentence * 0x9e3779b1 + PURPOSE[purpose]) | 0;
  let counter = 1;
  const bits = (): number => {
    const out = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + out) | 0;
    return out >>> 0;
  };
  for (let i = 0; i < 15; i++) bits();
  const uniform = () => bits() / 2 ** 32;
  const gentle = () => {
    const sum = uniform() + uniform() + uniform() + uniform() - 2;
    return Math.max(-MAX_GENTLE, Math.min(MAX_GENTLE, sum * Math.sqrt(3)));
  };
  return { bits, uniform, nearNormal: gentle };
}

/** Returns 32 bits that depend on a seed and a counter alone (the finaliser of MurmurHash3; Appleby, 2008). */
export function hash32(seed: number, counter: number): number {
  let hash = seed ^ Math.imul(counter + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

const MAX_GENTLE = 2.2;
const PURPOSE: Readonly<Record<RandomPurpose, number>> = {
  delivery: 0x243f6a88,
  rhythm: 0x03707344,
  drift: 0x85a308d3,
  noise: 0x13198a2e,
};
