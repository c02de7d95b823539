import { GraphFile } from "../../../src/onnx/graph-file.ts";
import { BLOCK, blocksIn } from "../../../src/onnx/quantising-kernel.ts";
import { openSession } from "../../../src/onnx/session.ts";
import { float32, floatsOf } from "../../../src/onnx/tensor.ts";

/**
 * Tells whether a 4-bit product of a row is the same alone and in a batch. onnxruntime's AVX2 kernels round rows in
 * pairs; its AVX-512 kernels do not.
 */
export async function isRowAsAlone(): Promise<boolean> {
  const [ins, outs, rows] = [8 * BLOCK, 24, 5];
  const data = Uint8Array.from({ length: (outs * ins) / 2 }, (_, at) => (at * at * 31) % 251);
  const scales = Float32Array.from({ length: outs * blocksIn(ins) }, (_, at) => 0.01 + 0.003 * Math.sin(at));
  const graph = new GraphFile();
  const x = graph.input("x", "float32", ["rows", ins]);
  const operands = [
    graph.constant(data, [outs, blocksIn(ins), BLOCK / 2]),
    graph.constant(scales, [outs * blocksIn(ins)]),
  ];
  const attributes = { K: ins, N: outs, bits: 4, block_size: BLOCK, accuracy_level: 4 };
  graph.addMany("com.microsoft.MatMulNBits", [x, ...operands], ["y"], attributes);
  graph.output("y", ["rows", outs]);
  const session = await openSession(Buffer.concat(graph.pieces()), "product");
  try {
    const input = Float32Array.from({ length: rows * ins }, (_, at) => Math.sin(at * 0.37) * Math.cos(at));
    const product = async (of: Float32Array): Promise<Float32Array> =>
      floatsOf(await session.run({ x: float32(of, [of.length / ins, ins]) }), "y").slice();
    const together = await product(input);
    for (let row = 0; row < rows; row += 1) {
      const alone = await product(input.slice(row * ins, (row + 1) * ins));
      if (alone.some((value, at) => value !== together[row * outs + at])) return false;
    }
    return true;
  } finally {
    await session.release();
  }
}
