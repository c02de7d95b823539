import {
  ATTRIBUTE,
  attribute,
  type Dimensions,
  GRAPH,
  MODEL,
  NODE,
  TENSOR,
  TYPES,
  valueInfo,
} from "./graph-file.ts";
import {
  bytesOf,
  decodeMessage,
  encodeMessage,
  type Field,
  integer,
  message,
  text,
  textsOf,
} from "./protobuf.ts";

/** One operation of a graph: it takes named tensors and gives named tensors. */
export interface Node {
  readonly operation: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** `name → list of integers`; attributes of other kinds are carried along unread. */
  readonly integers: ReadonlyMap<string, readonly number[]>;
  /** Everything else that the file said of the node. */
  readonly rest: readonly Field[];
}

/** A graph that can be changed: its operations in order, and what it takes and gives besides. */
export interface GraphEdit {
  readonly nodes: readonly Node[];
  /** Inputs and outputs to add: float32 tensors, with a number or a name for each dimension. */
  readonly inputs?: Readonly<Record<string, Dimensions>>;
  readonly outputs?: Readonly<Record<string, Dimensions>>;
  /** Constants to add: lists of integers. */
  readonly constants?: Readonly<Record<string, readonly number[]>>;
}

/**
 * Rewrites the graph in an ONNX file (onnx.proto, field numbers as published with ONNX 1.x). Weights and whatever
 * `edit` leaves alone stay byte for byte.
 */
export function rewriteGraph(model: Uint8Array, edit: (nodes: readonly Node[]) => GraphEdit): Uint8Array {
  return encodeMessage(
    decodeMessage(model).map((field) =>
      field.number === MODEL.graph && typeof field.value !== "bigint"
        ? { number: field.number, value: rewritten(decodeMessage(field.value), edit) }
        : field,
    ),
  );
}

/** A new operation. */
export function node(
  operation: string,
  inputs: readonly string[],
  outputs: readonly string[],
  integers: Readonly<Record<string, number>> = {},
): Node {
  const rest = Object.entries(integers).map(([name, value]) =>
    message(NODE.attribute, attribute(name, value)),
  );
  return { operation, inputs, outputs, integers: new Map(), rest };
}

/** The same operation without the named attribute, which then takes its default. */
export function withoutAttribute(from: Node, name: string): Node {
  const isIt = ({ number, value }: Field) =>
    number === NODE.attribute &&
    typeof value !== "bigint" &&
    textsOf(decodeMessage(value), ATTRIBUTE.name)[0] === name;
  return { ...from, rest: from.rest.filter((field) => !isIt(field)) };
}

function rewritten(graph: readonly Field[], edit: (nodes: readonly Node[]) => GraphEdit): Uint8Array {
  const nodes = bytesOf(graph, GRAPH.node).map((bytes) => readNode(decodeMessage(bytes)));
  const { nodes: changed, inputs = {}, outputs = {}, constants = {} } = edit(nodes);
  return encodeMessage([
    ...changed.map((each) => message(GRAPH.node, writeNode(each))),
    ...graph.filter(({ number }) => number !== GRAPH.node),
    ...Object.entries(constants).map(([name, values]) => message(GRAPH.initializer, constant(name, values))),
    ...Object.entries(inputs).map(([name, shape]) => message(GRAPH.input, valueInfo(name, "float32", shape))),
    ...Object.entries(outputs).map(([name, shape]) =>
      message(GRAPH.output, valueInfo(name, "float32", shape)),
    ),
  ]);
}

/** An operation as an ONNX file has it. */
export function readNode(fields: readonly Field[]): Node {
  const integers = new Map<string, readonly number[]>();
  for (const bytes of bytesOf(fields, NODE.attribute)) {
    const own = decodeMessage(bytes);
    const values = own.filter(({ number }) => number === ATTRIBUTE.i || number === ATTRIBUTE.ints);
    integers.set(
      textsOf(own, ATTRIBUTE.name)[0] ?? "",
      values.flatMap(({ value }) => (typeof value === "bigint" ? [Number(value)] : Array.from(value))),
    );
  }
  const known: readonly number[] = [NODE.input, NODE.output, NODE.operation];
  return {
    operation: textsOf(fields, NODE.operation)[0] ?? "",
    inputs: textsOf(fields, NODE.input),
    outputs: textsOf(fields, NODE.output),
    integers,
    rest: fields.filter(({ number }) => !known.includes(number)),
  };
}

/** The fields of an operation. */
export function writeNode({ operation, inputs, outputs, rest }: Node): Field[] {
  return [
    ...inputs.map((name) => text(NODE.input, name)),
    ...outputs.map((name) => text(NODE.output, name)),
    text(NODE.operation, operation),
    ...rest,
  ].sort((a, b) => a.number - b.number);
}

function constant(name: string, values: readonly number[]): Field[] {
  const raw = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  return [
    integer(TENSOR.dims, values.length),
    integer(TENSOR.dataType, TYPES.int64),
    text(TENSOR.name, name),
    { number: TENSOR.rawData, value: raw },
  ];
}
