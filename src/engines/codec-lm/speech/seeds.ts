/**
 * The seed of one of several independent draws that a seed stands for; the first has the seed itself (the finaliser of
 * SplitMix64; see `seededRng`).
 */
export function seedOf(seed: bigint, number: number): bigint {
  if (number === 0) return seed;
  let bits = BigInt.asUintN(64, seed + BigInt(number) * 0xd1b5_4a32_d192_ed03n);
  bits = BigInt.asUintN(64, (bits ^ (bits >> 30n)) * 0xbf58_476d_1ce4_e5b9n);
  bits = BigInt.asUintN(64, (bits ^ (bits >> 27n)) * 0x94d0_49bb_1331_11ebn);
  return bits ^ (bits >> 31n);
}
