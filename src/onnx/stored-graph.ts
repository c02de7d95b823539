import { WeightsError } from "./byte-source.ts";
import {
  type Dimensions,
  type ElementType,
  type ExternalData,
  GRAPH,
  GraphFile,
  MODEL,
  TENSOR,
  TYPES,
} from "./graph-file.ts";
import { type Node, readNode, writeNode } from "./graph-node.ts";
import { bytesOf, decodeMessage, type Field, integersOf, textsOf } from "./protobuf.ts";

/** A graph that was read from an ONNX file, taken apart. Nothing in it is changed; editing makes another. */
export interface StoredGraph {
  /** In an order in which they can run. */
  readonly nodes: readonly Node[];
  readonly constants: ReadonlyMap<string, StoredConstant>;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** A constant of a graph. */
export interface StoredConstant {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** Its numbers, row-major and little endian. Those that are computed are so at each call. */
  data(): Uint8Array;
}

/** What a graph takes or gives. */
export interface GraphEnd {
  readonly type: ElementType;
  readonly shape: Dimensions;
}

/** Takes a graph apart; nothing of its constants is copied. @throws WeightsError when the bytes are no such graph */
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
 * The same graph as a file to write.
 *
 * @param placeOf where the numbers of a constant are, when they are not to be in the file
 */
export function graphFileOf(
  graph: Pick<StoredGraph, "nodes" | "constants">,
  inputs: Readonly<Record<string, GraphEnd>>,
  outputs: Readonly<Record<string, GraphEnd>>,
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

/** A constant whose numbers are there. */
export function storedConstant(
  type: ElementType,
  shape: readonly number[],
  values: Float32Array | BigInt64Array | Int8Array,
): StoredConstant {
  const { buffer, byteOffset, byteLength } = values;
  return { type, shape, data: () => new Uint8Array(buffer, byteOffset, byteLength) };
}

/** The numbers of a float32 constant. */
export function floatsIn(constant: StoredConstant): Float32Array {
  if (constant.type !== "float32") throw new WeightsError("A constant of the graph is not float32.");
  return new Float32Array(aligned(constant.data(), 4).buffer);
}

/** The numbers of an 8-bit constant, signed or not. */
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

/** The numbers of a constant as raw bytes: small ones are written field by field. */
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

/** A copy of its own, since a file's bytes begin anywhere. */
function aligned(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(Math.floor(bytes.length / size) * size);
  copy.set(bytes.subarray(0, copy.length));
  return copy;
}

const TYPE_NAMES = new Map((Object.keys(TYPES) as ElementType[]).map((name) => [TYPES[name], name] as const));

/** What a number takes. */
const BYTES: Readonly<Record<ElementType, number>> = {
  ...{ float32: 4, uint8: 1, int8: 1, int32: 4, int64: 8 },
  ...{ bool: 1, float16: 2, bfloat16: 2 },
};
