import { WeightsError } from "./byte-source.ts";
import {
  ATTRIBUTE,
  attribute,
  type Dimensions,
  type ElementType,
  type ExternalData,
  GRAPH,
  GraphFile,
  MODEL,
  NODE,
  TENSOR,
  TYPES,
} from "./graph-file.ts";
import {
  bytesOf,
  decodeMessage,
  encodeMessage,
  type Field,
  integersOf,
  message,
  text,
  textsOf,
} from "./protobuf.ts";

/** An immutable graph from an ONNX file; edits return another. */
export interface StoredGraph {
  /** Nodes in an executable order. */
  readonly nodes: readonly GraphNode[];
  readonly constants: ReadonlyMap<string, StoredConstant>;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

export interface StoredConstant {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** Values, row-major and little endian; computed ones anew at each call. */
  data(): Uint8Array;
}

/** Type and shape of a graph's input or output. */
export interface ValueInfo {
  readonly type: ElementType;
  readonly shape: Dimensions;
}

/** Parses a graph without copying its constants. @throws WeightsError when the bytes are no graph */
export function readGraph(model: Uint8Array): StoredGraph {
  const graph = bytesOf(decoded(model), MODEL.graph)[0];
  if (graph === undefined) throw new WeightsError("The file has no graph.");
  const fields = decoded(graph);
  const namesOf = (number: number) =>
    bytesOf(fields, number).map((each) => textsOf(decoded(each), 1)[0] ?? "");
  return {
    nodes: orCutShort(() => bytesOf(fields, GRAPH.node).map(readNode)),
    constants: new Map(bytesOf(fields, GRAPH.initializer).map(readConstant)),
    inputs: namesOf(GRAPH.input),
    outputs: namesOf(GRAPH.output),
  };
}

/**
 * Converts to a graph to write.
 *
 * @param placeOf returns where a constant's data lies if it is external
 */
export function toGraphFile(
  graph: Pick<StoredGraph, "nodes" | "constants">,
  inputs: Readonly<Record<string, ValueInfo>>,
  outputs: Readonly<Record<string, ValueInfo>>,
  placeOf: (name: string, constant: StoredConstant) => ExternalData | null = () => null,
): GraphFile {
  const file = new GraphFile();
  for (const each of graph.nodes) file.operation(writeNode(each));
  for (const [name, constant] of graph.constants) {
    const place = placeOf(name, constant);
    if (place === null) file.stored(name, constant.type, constant.shape, constant.data());
    else file.external(name, place);
  }
  for (const [name, { type, shape }] of Object.entries(inputs)) file.input(name, type, shape);
  for (const [name, { type, shape }] of Object.entries(outputs)) file.output(name, shape, type);
  return file;
}

export function storedConstant(
  type: ElementType,
  shape: readonly number[],
  values: Float32Array | BigInt64Array | Int8Array,
): StoredConstant {
  const { buffer, byteOffset, byteLength } = values;
  return { type, shape, data: () => new Uint8Array(buffer, byteOffset, byteLength) };
}

export function floatsIn(constant: StoredConstant): Float32Array {
  if (constant.type !== "float32") throw new WeightsError("A constant of the graph is not float32.");
  return new Float32Array(aligned(constant.data(), 4).buffer);
}

export function bytesIn({ type, data }: StoredConstant): Uint8Array | Int8Array {
  if (type === "uint8") return data();
  if (type !== "int8") throw new WeightsError("A constant of the graph does not have 8 bits.");
  const { buffer, byteOffset, byteLength } = data();
  return new Int8Array(buffer, byteOffset, byteLength);
}

function readConstant(bytes: Uint8Array): readonly [string, StoredConstant] {
  const fields = decoded(bytes);
  const name = textsOf(fields, TENSOR.name)[0] ?? "";
  const code = Number(integersOf(fields, TENSOR.dataType)[0] ?? 0n);
  const type = TYPE_NAMES.get(code);
  if (type === undefined) throw new WeightsError(`${name} is of the type ${code}, which is not read here.`);
  const shape = integersOf(fields, TENSOR.dims).map(Number);
  const data = dataOf(fields, type);
  if (data.length !== shape.reduce((product, size) => product * size, BYTES[type])) {
    throw new WeightsError(`${name} has not its shape.`);
  }
  return [name, { type, shape, data: () => data }];
}

/** Returns a constant's bytes; small constants are stored field by field. */
function dataOf(fields: readonly Field[], type: ElementType): Uint8Array {
  const [raw] = bytesOf(fields, TENSOR.rawData);
  if (raw !== undefined) return raw;
  if (type === "float32") return new Uint8Array(Buffer.concat(bytesOf(fields, TENSOR.floatData)));
  const number = type === "int64" ? TENSOR.int64Data : TENSOR.int32Data;
  const values = integersOf(fields, number);
  if (type === "int64")
    return new Uint8Array(BigInt64Array.from(values, (each) => BigInt.asIntN(64, each)).buffer);
  const numbers = values.map((each) => Number(BigInt.asIntN(32, each)));
  return BYTES[type] === 4 ? new Uint8Array(Int32Array.from(numbers).buffer) : Uint8Array.from(numbers);
}

function decoded(bytes: Uint8Array): Field[] {
  return orCutShort(() => decodeMessage(bytes));
}

function orCutShort<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new WeightsError("The file is no graph, or is cut short.", { cause });
  }
}

/** Copies: data in a file may be unaligned. */
function aligned(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(Math.floor(bytes.length / size) * size);
  copy.set(bytes.subarray(0, copy.length));
  return copy;
}

const TYPE_NAMES = new Map((Object.keys(TYPES) as ElementType[]).map((name) => [TYPES[name], name] as const));

/** Bytes per number. */
const BYTES: Readonly<Record<ElementType, number>> = {
  ...{ float32: 4, uint8: 1, int8: 1, int32: 4, int64: 8 },
  ...{ bool: 1, float16: 2, bfloat16: 2 },
};

/** A node of a graph. */
export interface GraphNode {
  readonly operation: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Integer attributes by name; attributes of other kinds stay encoded in `rest`. */
  readonly integers: ReadonlyMap<string, readonly number[]>;
  /** All other fields of the encoded node. */
  readonly rest: readonly Field[];
}

/** Creates a node. */
export function node(
  operation: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, number | readonly number[]>> = {},
): GraphNode {
  const all = Object.entries(attributes);
  return {
    operation,
    inputs,
    outputs,
    integers: new Map(all.map(([name, value]) => [name, [value].flat()])),
    rest: all.map(([name, value]) => message(NODE.attribute, attribute(name, value))),
  };
}

/** Returns the node without an attribute, so that its default applies. */
export function withoutAttribute(from: GraphNode, name: string): GraphNode {
  const isIt = ({ number, value }: Field) =>
    number === NODE.attribute &&
    typeof value !== "bigint" &&
    textsOf(decodeMessage(value), ATTRIBUTE.name)[0] === name;
  const integers = new Map(from.integers);
  integers.delete(name);
  return { ...from, integers, rest: from.rest.filter((field) => !isIt(field)) };
}

export function readNode(bytes: Uint8Array): GraphNode {
  const fields = decodeMessage(bytes);
  let integers: GraphNode["integers"] | undefined;
  const known: readonly number[] = [NODE.input, NODE.output, NODE.operation];
  const node: GraphNode = {
    operation: textsOf(fields, NODE.operation)[0] ?? "",
    inputs: textsOf(fields, NODE.input),
    outputs: textsOf(fields, NODE.output),
    get integers() {
      integers ??= integersIn(fields);
      return integers;
    },
    rest: fields.filter(({ number }) => !known.includes(number)),
  };
  SOURCE_BYTES.set(node, bytes);
  return node;
}

export function writeNode(node: GraphNode): Uint8Array {
  const { operation, inputs, outputs, rest } = node;
  return (
    SOURCE_BYTES.get(node) ??
    encodeMessage(
      [
        ...inputs.map((name) => text(NODE.input, name)),
        ...outputs.map((name) => text(NODE.output, name)),
        text(NODE.operation, operation),
        ...rest,
      ].sort((a, b) => a.number - b.number),
    )
  );
}

/** Encoded bytes of unchanged nodes, which need no encoding. */
const SOURCE_BYTES = new WeakMap<GraphNode, Uint8Array>();

function integersIn(fields: readonly Field[]): GraphNode["integers"] {
  const integers = new Map<string, readonly number[]>();
  for (const bytes of bytesOf(fields, NODE.attribute)) {
    const own = decodeMessage(bytes);
    const values = own.filter(({ number }) => number === ATTRIBUTE.i || number === ATTRIBUTE.ints);
    integers.set(
      textsOf(own, ATTRIBUTE.name)[0] ?? "",
      values.flatMap(({ value }) => (typeof value === "bigint" ? [Number(value)] : Array.from(value))),
    );
  }
  return integers;
}

export type TensorNames = Readonly<Record<string, string>>;

/**
 * Cuts out the subgraph between some tensors.
 *
 * @param inputs and `outputs` map new names to names in the graph
 * @throws WeightsError when a tensor is missing or the outputs need further inputs
 */
export function extractSubgraph(graph: StoredGraph, inputs: TensorNames, outputs: TensorNames): StoredGraph {
  const makers = new Map(graph.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  const given = new Set(Object.values(inputs));
  const kept = new Set<GraphNode>();
  const constants = new Map<string, StoredConstant>();
  const open = Object.values(outputs);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === "" || given.has(name) || constants.has(name)) continue;
    const constant = graph.constants.get(name);
    const maker = makers.get(name);
    if (constant !== undefined) constants.set(name, constant);
    else if (maker === undefined) throw new WeightsError(`The graph has nothing that gives ${name}.`);
    else if (!kept.has(maker)) {
      kept.add(maker);
      open.push(...maker.inputs);
    }
  }
  const names = new Map(
    [...Object.entries(inputs), ...Object.entries(outputs)].map(([name, old]) => [old, name] as const),
  );
  const renamed = (name: string) => names.get(name) ?? name;
  return {
    nodes: graph.nodes
      .filter((node) => kept.has(node))
      .map((node) => ({ ...node, inputs: node.inputs.map(renamed), outputs: node.outputs.map(renamed) })),
    constants,
    inputs: Object.keys(inputs),
    outputs: Object.keys(outputs),
  };
}
