import { FunctionBody } from "../../../onnx/assemble.ts";
import { f32x4, i32, v128 } from "../../../onnx/instructions.ts";
import { BIN_HZ, BINS } from "../../prosody/spectral-frame.ts";
import type { Table } from "./fourier.ts";
import { BANDS, type Exchange, type Layout } from "./layout.ts";

/** `addBands()`: adds to the gain of every bin that of the two bands that it lies between. */
export function bandGains(
  layout: Layout,
  { bands, gain }: Pick<Exchange, "bands" | "gain">,
): { readonly add: FunctionBody; readonly tables: readonly Table[] } {
  const add = new FunctionBody("addBands");
  const places = Array.from({ length: BINS }, (_, bin) => placeOf(bin));
  const tables = Array.from({ length: BANDS }, (_, band) => {
    const shares = places.map((place) => Math.max(0, 1 - Math.abs(place - band)));
    const inside = shares.flatMap((share, bin) => (share > 0 ? [bin] : []));
    const from = LANES * Math.floor((inside[0] ?? 0) / LANES);
    const to = (inside.at(-1) ?? 0) + 1;
    const table = { address: layout.reserve(to - from), values: Float32Array.from(shares.slice(from, to)) };
    const level = add.keep(v128.loadSplat(i32.const(0), bands + band * BYTES));
    add.loop(0, i32.const((to - from) * BYTES), LANES * BYTES, (at) => {
      const offset = gain + from * BYTES;
      const sum = f32x4.add(v128.load(at, offset), f32x4.mul(level, v128.load(at, table.address)));
      add.emit(v128.store(at, sum, offset));
    });
    return table;
  });
  return { add, tables };
}

/** Where a bin lies among the bands: nearly evenly over low frequencies, over the logarithm of the others. */
function placeOf(bin: number): number {
  return Math.min(BANDS - 1.001, 4.6 * Math.log2(1 + (bin * BIN_HZ) / 400));
}

const BYTES = 4;
const LANES = 4;
