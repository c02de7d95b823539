import { WeightsError } from "./byte-source.ts";
import { NODE } from "./graph-file.ts";
import { bytesIn, floatsIn, type GraphNode, type StoredConstant, type StoredGraph } from "./stored-graph.ts";
import { elementCount } from "./tensor.ts";

/**
 * Replaces the dynamic quantisation of onnxruntime's `quantize_dynamic`: matrix products, convolutions and LSTMs
 * compute in float32 with the values of the 8-bit weights. A dynamic scale depends on the whole sentence; without it,
 * parts can be computed separately.
 *
 * Unused nodes stay until the graph is cut. New weights are computed on demand.
 *
 * @throws WeightsError when the quantisation has another layout
 */
export function dequantiseGraph(graph: StoredGraph): StoredGraph {
  const links = indexGraph(graph);
  const constants = new Map(graph.constants);
  const made = new Map<string, GraphNode>();
  const nodes: GraphNode[] = [];
  for (const node of graph.nodes) {
    const { operation } = node;
    if (operation === "DynamicQuantizeLSTM") nodes.push(floatLstm(node, graph.constants, constants));
    else if (operation === "MatMulInteger" || operation === "ConvInteger") {
      const plain = floatProduct(node, links, graph.constants, constants);
      made.set(plain.outputs[0]!, plain);
      nodes.push(plain);
    } else if (!made.has(node.outputs[0] ?? "")) nodes.push(node);
  }
  return { ...graph, nodes, constants };
}

interface GraphIndex {
  readonly producers: ReadonlyMap<string, GraphNode>;
  readonly consumers: ReadonlyMap<string, readonly GraphNode[]>;
}

type Constants = ReadonlyMap<string, StoredConstant>;

function indexGraph({ nodes }: StoredGraph): GraphIndex {
  const producers = new Map<string, GraphNode>();
  const consumers = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    for (const name of node.outputs) producers.set(name, node);
    for (const name of node.inputs) {
      const known = consumers.get(name);
      if (known === undefined) consumers.set(name, [node]);
      else known.push(node);
    }
  }
  return { producers, consumers };
}

/** Replaces quantised → product → (+ rounded bias) → Cast → · activation scale · weight scale by a float product. */
function floatProduct(
  node: GraphNode,
  links: GraphIndex,
  from: Constants,
  into: Map<string, StoredConstant>,
): GraphNode {
  const [quantised = "", weight = "", , zeroPoint = ""] = node.inputs;
  const x = links.producers.get(quantised)?.inputs[0];
  const end = scaledBy(node, links);
  const scale = end === null ? undefined : end.scales.find((name) => from.has(name));
  if (x === undefined || end === null || scale === undefined)
    throw new WeightsError(`${weight} is quantised in a way that is not read here.`);
  const isConvolution = node.operation === "ConvInteger";
  const name = `${weight}.float`;
  into.set(
    name,
    dequantised(
      constantOf(from, weight),
      constantOf(from, zeroPoint),
      constantOf(from, scale),
      isConvolution,
    ),
  );
  return {
    ...node,
    operation: isConvolution ? "Conv" : "MatMul",
    inputs: [x, name, ...(end.bias === null ? [] : [end.bias])],
    outputs: [end.output],
  };
}

/** Follows a product to where it becomes float32. */
function scaledBy(
  product: GraphNode,
  { producers, consumers }: GraphIndex,
): { readonly output: string; readonly scales: readonly string[]; readonly bias: string | null } | null {
  let bias: string | null = null;
  let name = product.outputs[0] ?? "";
  for (;;) {
    const [user, another] = consumers.get(name) ?? [];
    if (user === undefined || another !== undefined) return null;
    const other = user.inputs.find((each) => each !== name) ?? "";
    const [output = ""] = user.outputs;
    if (user.operation === "Mul") return { output, scales: producers.get(other)?.inputs ?? [], bias };
    if (user.operation === "Add") bias = roundedFrom(other, producers);
    else if (user.operation !== "Cast") return null;
    name = output;
  }
}

/** Returns the bias that was divided by the scale, rounded and reshaped. */
function roundedFrom(name: string, producers: GraphIndex["producers"]): string | null {
  for (let at = producers.get(name); at !== undefined; at = producers.get(at.inputs[0] ?? "")) {
    if (at.operation === "Div") return at.inputs[0] ?? null;
  }
  return null;
}

/**
 * (weight − zero point) · scale, each per tensor or per output. Outputs come first in a convolution, last in a matrix
 * product.
 */
function dequantised(
  weight: StoredConstant,
  zeroPoint: StoredConstant,
  scale: StoredConstant,
  isOutputFirst: boolean,
): StoredConstant {
  const { shape } = weight;
  const outputs = (isOutputFirst ? shape[0] : shape.at(-1)) ?? 1;
  const inRow = elementCount(shape) / outputs;
  return {
    type: "float32",
    shape,
    data() {
      const numbers = bytesIn(weight);
      const zeros = eachOf(bytesIn(zeroPoint), outputs);
      const scales = eachOf(floatsIn(scale), outputs);
      const values = new Float32Array(numbers.length);
      for (let at = 0; at < values.length; at++) {
        const output = isOutputFirst ? Math.floor(at / inRow) : at % outputs;
        values[at] = (numbers[at]! - zeros(output)) * scales(output);
      }
      return new Uint8Array(values.buffer);
    },
  };
}

function floatLstm(node: GraphNode, from: Constants, into: Map<string, StoredConstant>): GraphNode {
  const [x = "", weight = "", recurrence = "", bias = "", lengths = "", state = "", cell = ""] = node.inputs;
  const [, , , , , , , , weightScale = "", weightZero = "", recurrenceScale = "", recurrenceZero = ""] =
    node.inputs;
  const turned = (name: string, scale: string, zero: string) => {
    const own = `${name}.float`;
    into.set(own, transposedLstm(constantOf(from, name), constantOf(from, zero), constantOf(from, scale)));
    return own;
  };
  return {
    ...node,
    operation: "LSTM",
    inputs: [
      x,
      turned(weight, weightScale, weightZero),
      turned(recurrence, recurrenceScale, recurrenceZero),
      ...[bias, lengths, state, cell],
    ],
    // LSTM is a standard ONNX operator; DynamicQuantizeLSTM is not.
    rest: node.rest.filter(({ number }) => number !== NODE.domain),
  };
}

/** Transposes LSTM weights from [directions, inputs, 4 · hidden] to [directions, 4 · hidden, inputs]. */
function transposedLstm(
  weight: StoredConstant,
  zeroPoint: StoredConstant,
  scale: StoredConstant,
): StoredConstant {
  const [directions = 0, inputs = 0, gates = 0] = weight.shape;
  return {
    type: "float32",
    shape: [directions, gates, inputs],
    data() {
      const numbers = bytesIn(weight);
      const zeros = eachOf(bytesIn(zeroPoint), directions);
      const scales = eachOf(floatsIn(scale), directions);
      const values = new Float32Array(numbers.length);
      for (let direction = 0, to = 0; direction < directions; direction++) {
        for (let gate = 0; gate < gates; gate++) {
          for (let input = 0; input < inputs; input++, to++) {
            const number = numbers[(direction * inputs + input) * gates + gate]!;
            values[to] = (number - zeros(direction)) * scales(direction);
          }
        }
      }
      return new Uint8Array(values.buffer);
    },
  };
}

/** Reads one number for all outputs, or one each. */
function eachOf(numbers: ArrayLike<number>, count: number): (at: number) => number {
  if (numbers.length === 1) return () => numbers[0]!;
  if (numbers.length !== count) throw new WeightsError("A scale of the graph fits no weights.");
  return (at) => numbers[at]!;
}

function constantOf(constants: Constants, name: string): StoredConstant {
  const found = constants.get(name);
  if (found === undefined) throw new WeightsError(`The graph lacks the constant ${name}.`);
  return found;
}
