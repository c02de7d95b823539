/** A matrix in whole numbers: column c of it is `data[.., c] * scales[c]`. */
export interface QuantisedMatrix {
  /** [rows, columns], row-major, -127 to 127. */
  readonly data: Int8Array;
  /** [columns] */
  readonly scales: Float32Array;
}

/**
 * Quantises weights [out, in] and transposes them to [in, out], one scale for each output, symmetric about zero: what
 * `quantize_dynamic` of onnxruntime does with `per_channel` and QInt8.
 */
export function quantised(weights: Float32Array, outs: number, ins: number): QuantisedMatrix {
  const data = new Int8Array(outs * ins);
  const scales = new Float32Array(outs);
  for (let out = 0; out < outs; out++) {
    const row = weights.subarray(out * ins, (out + 1) * ins);
    let largest = 0;
    for (const value of row) largest = Math.max(largest, Math.abs(value));
    const scale = largest === 0 ? 1 : Math.fround((2 * largest) / 254);
    scales[out] = scale;
    for (let at = 0; at < ins; at++) data[at * outs + out] = halfToEven(Math.fround(row[at]! / scale));
  }
  return { data, scales };
}

/** The nearest whole number; of two as near, the even one. */
function halfToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
