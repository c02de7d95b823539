import type { BitWriter } from "./bit-writer.ts";

/** How a residual is divided into equal parts, with a parameter for each, and the bits that this takes. */
export interface RicePlan {
  readonly partitionOrder: number;
  readonly parameters: readonly number[];
  readonly bits: number;
}

const MAX_PARTITION_ORDER = 6;
const MAX_PARAMETER = 14;
const PARAMETER_BITS = 4;

/**
 * The cheapest way to write a residual in Rice's code (RFC 9639, 9.2.7; Rice, "Some practical universal noiseless coding
 * techniques", 1979). The cost is estimated from sums: a part's share beyond its lowest bits, and a parameter's worth for
 * each value.
 *
 * @param order values at the beginning that are not written
 */
export function planRice(residual: Int32Array, order: number): RicePlan {
  let best: RicePlan | null = null;
  for (let partitionOrder = 0; partitionOrder <= MAX_PARTITION_ORDER; partitionOrder += 1) {
    const size = residual.length >> partitionOrder;
    if (size << partitionOrder !== residual.length || size <= order) break;
    const plan = planParts(residual, order, partitionOrder, size);
    if (best === null || plan.bits < best.bits) best = plan;
  }
  if (best === null) throw new RangeError("A residual has to be longer than what is not written of it.");
  return best;
}

/** Writes it as planned. */
export function writeRice(
  writer: BitWriter,
  residual: Int32Array,
  order: number,
  { partitionOrder, parameters }: RicePlan,
): void {
  writer.put(0, 2);
  writer.put(partitionOrder, 4);
  const size = residual.length >> partitionOrder;
  for (const [part, parameter] of parameters.entries()) {
    writer.put(parameter, PARAMETER_BITS);
    for (let i = Math.max(order, part * size); i < (part + 1) * size; i += 1) {
      const value = folded(residual[i]!);
      const zeros = value >>> parameter;
      const low = value & ((1 << parameter) - 1);
      if (zeros + 1 + parameter <= 24) writer.put((1 << parameter) | low, zeros + 1 + parameter);
      else {
        writer.unary(zeros);
        writer.put(low, parameter);
      }
    }
  }
}

function planParts(residual: Int32Array, order: number, partitionOrder: number, size: number): RicePlan {
  const parameters: number[] = [];
  let bits = 6;
  for (let from = 0; from < residual.length; from += size) {
    let sum = 0;
    const first = Math.max(order, from);
    for (let i = first; i < from + size; i += 1) sum += folded(residual[i]!);
    const count = from + size - first;
    let parameter = 0;
    while (parameter < MAX_PARAMETER && count * 2 ** (parameter + 1) < sum) parameter += 1;
    parameters.push(parameter);
    bits += PARAMETER_BITS + count * (parameter + 1) + sum / 2 ** parameter;
  }
  return { partitionOrder, parameters, bits };
}

/** 0, -1, 1, -2 … as 0, 1, 2, 3 … */
function folded(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}
