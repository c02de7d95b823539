import type { Utterance } from "./model.ts";

/** Numbers in [0, 1), one after the other. */
export type Rng = () => number;

export function rngOf({ uniforms, seed }: Pick<Utterance, "uniforms" | "seed">): Rng {
  return uniforms === null ? seededRng(seed) : givenRng(uniforms);
}

const GOLDEN_GAMMA = 0x9e37_79b9_7f4a_7c15n;

/**
 * Draws that depend on the seed and on how many there were before, and on nothing else: so who shares a batch changes
 * nothing (SplitMix64; Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
 *
 * @param seed 64 bits
 */
export function seededRng(seed: bigint): Rng {
  let count = 0n;
  return () => {
    count++;
    return Number(mixed(seed + count * GOLDEN_GAMMA) >> 11n) / 2 ** 53;
  };
}

/** Draws that are given. @throws Error when there are no more of them */
export function givenRng(numbers: readonly number[]): Rng {
  let at = 0;
  return () => {
    const number = numbers[at++];
    if (number === undefined) throw new Error(`Only ${numbers.length} draws were given; more are needed.`);
    return number;
  };
}

/** The seed of one of several independent generators that a seed stands for; the first has the seed itself. */
export function seedOf(seed: bigint, number: number): bigint {
  return number === 0 ? seed : mixed(seed + BigInt(number) * 0xd1b5_4a32_d192_ed03n);
}

/** The finaliser of SplitMix64. */
function mixed(sum: bigint): bigint {
  let bits = BigInt.asUintN(64, sum);
  bits = BigInt.asUintN(64, (bits ^ (bits >> 30n)) * 0xbf58_476d_1ce4_e5b9n);
  bits = BigInt.asUintN(64, (bits ^ (bits >> 27n)) * 0x94d0_49bb_1331_11ebn);
  return bits ^ (bits >> 31n);
}
