import { WeightsError } from "../../onnx/byte-source.ts";
import {
  type GraphNode,
  node,
  type StoredConstant,
  type StoredGraph,
  storedConstant,
} from "../../onnx/stored-graph.ts";

/**
 * Returns the graph with its matrix products in 8 bits, as the network's authors published it. The files hold each
 * matrix as int8 with one scale, which the runtime unfolds to float32 (Cast → Mul → MatMul). Here the matrix stays
 * int8, and the other factor is rounded in each run to 256 steps between its minimum and maximum (ONNX
 * `DynamicQuantizeLinear`). The operations are in the order of onnxruntime's `quantize_dynamic`, which its optimiser
 * fuses.
 *
 * Depthwise convolutions over time become two-dimensional ones of height 1, for which the runtime has a faster
 * kernel. Results stay within rounding.
 *
 * @param hasOwnMatrices whether a matrix that several products share is stored once for each, which `isExactIn8Bits`
 * requires
 * @throws WeightsError if a matrix is laid out in another way
 */
export function quantiseProducts(
  { nodes, constants, ...ends }: StoredGraph,
  hasOwnMatrices: boolean,
): StoredGraph {
  const makers = new Map(nodes.flatMap((each) => each.outputs.map((name) => [name, each] as const)));
  const added = new Map(constants);
  added.set(PLANE_AXIS, storedConstant("int64", [1], BigInt64Array.of(2n)));
  const unfolding = new Set<GraphNode>();
  const changed = nodes.flatMap((each): readonly GraphNode[] => {
    if (each.operation === "Conv" && (each.integers.get("group")?.[0] ?? 1) > 1) return planar(each);
    const [x = "", matrix = ""] = each.inputs;
    const scaling = each.operation === "MatMul" ? makers.get(matrix) : undefined;
    const cast = makers.get(scaling?.inputs[0] ?? "");
    if (scaling?.operation !== "Mul" || cast?.operation !== "Cast") return [each];
    const [shared = ""] = cast.inputs;
    const [, scale = ""] = scaling.inputs;
    unfolding.add(scaling).add(cast);
    const stored = hasOwnMatrices ? `${each.outputs[0]}.matrix` : shared;
    added.set(stored, matrixIn(constants, shared));
    const zero = `${each.outputs[0]}.zero`;
    added.set(zero, storedConstant("int8", [], new Int8Array(1)));
    return product(each, { x, stored, scale, zero });
  });
  return { nodes: changed.filter((each) => !unfolding.has(each)), constants: added, ...ends };
}

const PLANE_AXIS = "plane axis";

function matrixIn(constants: StoredGraph["constants"], name: string): StoredConstant {
  const matrix = constants.get(name);
  if (matrix?.type !== "int8") throw new WeightsError(`The graph has no int8 matrix ${name}.`);
  return matrix;
}

function product(
  { outputs }: GraphNode,
  { x, stored, scale, zero }: Readonly<Record<"x" | "stored" | "scale" | "zero", string>>,
): readonly GraphNode[] {
  const [output = ""] = outputs;
  const own = (what: string) => `${output}.${what}`;
  return [
    node("DynamicQuantizeLinear", [x], [own("rounded"), own("step"), own("origin")]),
    node("MatMulInteger", [own("rounded"), stored, own("origin"), zero], [own("whole")]),
    node("Cast", [own("whole")], [own("float")], { to: 1 }),
    node("Mul", [own("step"), scale], [own("scale")]),
    node("Mul", [own("float"), own("scale")], [output]),
  ];
}

/** Wraps a convolution: [1, channels, time] to [1, channels, 1, time], and back. */
function planar({ inputs, outputs, integers }: GraphNode): readonly GraphNode[] {
  const [x = "", weight = "", ...bias] = inputs;
  const [output = ""] = outputs;
  const own = (what: string) => `${output}.${what}`;
  const [before = 0, after = 0] = integers.get("pads") ?? [];
  const attributes = {
    group: integers.get("group")?.[0] ?? 1,
    kernel_shape: [1, ...(integers.get("kernel_shape") ?? [])],
    strides: [1, ...(integers.get("strides") ?? [1])],
    dilations: [1, ...(integers.get("dilations") ?? [1])],
    pads: [0, before, 0, after],
  };
  return [
    node("Unsqueeze", [weight, PLANE_AXIS], [own("weight")]),
    node("Unsqueeze", [x, PLANE_AXIS], [own("plane")]),
    node("Conv", [own("plane"), own("weight"), ...bias], [own("filtered")], attributes),
    node("Squeeze", [own("filtered"), PLANE_AXIS], [output]),
  ];
}
