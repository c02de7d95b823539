import { encodeMessage, type Field, integer, message, text, varint } from "./protobuf.ts";

/** An attribute of a node: an integer, a list of integers, `{ float }`, `{ text }`, or the graph of a branch. */
export type Attribute =
  | number
  | readonly number[]
  | { readonly float: number }
  | { readonly text: string }
  | { readonly graph: GraphFile };

export type ConstantData = Float32Array | Int8Array | Uint8Array | Int32Array | BigInt64Array;

export type ElementType = keyof typeof TYPES;

/** Tensor data in another file, in the folder given to the session. */
export interface ExternalData {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** File name within that folder. */
  readonly file: string;
  readonly from: number;
  readonly bytes: number;
}

/** A size, or a name if it depends on the input. */
export type Dimensions = readonly (number | string)[];

/**
 * A writer of ONNX graphs (onnx.proto, field numbers of ONNX 1.x). Nodes run in the order in which they are added;
 * their results get generated names.
 */
export class GraphFile {
  readonly #nodes: Field[] = [];
  readonly #constants = new Map<string, readonly [head: Uint8Array, data: Uint8Array | null]>();
  readonly #inputs: Field[] = [];
  readonly #outputs: Field[] = [];
  readonly #prefix: string;
  #count = 0;

  /** @param prefix of generated names: a branch must not reuse those of the outer graph. */
  constructor(prefix = "") {
    this.#prefix = prefix;
  }

  /** Adds a constant without copying its data. Returns an existing constant of that name as it is. */
  constant(data: ConstantData, shape: readonly number[], name?: string): string {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return this.stored(name ?? `constant.${this.#constants.size}`, typeOf(data), shape, bytes);
  }

  /** Adds a constant from its bytes, row-major and little endian. */
  stored(name: string, type: ElementType, shape: readonly number[], bytes: Uint8Array): string {
    const own = this.#prefix + name;
    if (this.#constants.has(own)) return own;
    const head = encodeMessage([
      ...shape.map((size) => integer(TENSOR.dims, size)),
      integer(TENSOR.dataType, TYPES[type]),
      text(TENSOR.name, own),
    ]);
    this.#constants.set(own, [head, bytes]);
    return own;
  }

  /** Adds a constant with external data. Returns an existing constant of that name as it is. */
  external(name: string, data: ExternalData): string {
    const own = this.#prefix + name;
    if (!this.#constants.has(own))
      this.#constants.set(own, [encodeMessage(externalConstant(own, data)), null]);
    return own;
  }

  /** Adds a float32 scalar. */
  number(value: number): string {
    return this.constant(Float32Array.of(value), [], `number.${value}`);
  }

  /** Adds an int64 scalar. */
  scalar(value: number): string {
    return this.constant(BigInt64Array.of(BigInt(value)), [], `scalar.${value}`);
  }

  /** Adds an int64 list. */
  integers(...values: number[]): string {
    return this.constant(BigInt64Array.from(values, BigInt), [values.length], `integers.${values.join(".")}`);
  }

  /**
   * Adds a node with one result: an ONNX operator, or one of onnxruntime's (`ContribOperators.md`) with the prefix
   * `com.microsoft.`. @returns the result's name
   */
  add(operation: string, inputs: readonly string[], attributes: Record<string, Attribute> = {}): string {
    return this.addMany(operation, inputs, [this.#newName()], attributes)[0]!;
  }

  addNamed(name: string, operation: string, inputs: readonly string[]): string {
    return this.addMany(operation, inputs, [name])[0]!;
  }

  /** Adds a node with several results, named or counted. @returns their names */
  addMany(
    operation: string,
    inputs: readonly string[],
    outputs: readonly string[] | number,
    attributes: Record<string, Attribute> = {},
  ): readonly string[] {
    const names =
      typeof outputs === "number" ? Array.from({ length: outputs }, () => this.#newName()) : outputs;
    const own = operation.startsWith(`${OWN_DOMAIN}.`) ? operation.slice(OWN_DOMAIN.length + 1) : null;
    this.#nodes.push(
      message(GRAPH.node, [
        ...inputs.map((name) => text(NODE.input, name)),
        ...names.map((name) => text(NODE.output, name)),
        text(NODE.operation, own ?? operation),
        ...(own === null ? [] : [text(NODE.domain, OWN_DOMAIN)]),
        ...Object.entries(attributes).map(([name, value]) => message(NODE.attribute, attribute(name, value))),
      ]),
    );
    return names;
  }

  /** Adds a node from its encoded bytes. */
  operation(bytes: Uint8Array): void {
    this.#nodes.push({ number: GRAPH.node, value: bytes });
  }

  input(name: string, type: ElementType, shape: Dimensions): string {
    this.#inputs.push(message(GRAPH.input, valueInfo(name, type, shape)));
    return name;
  }

  output(name: string, shape: Dimensions, type: ElementType = "float32"): void {
    this.#outputs.push(message(GRAPH.output, valueInfo(name, type, shape)));
  }

  /** Adds an empty tensor sequence as the first output. */
  prependEmptySequence(name: string): void {
    this.addMany("SequenceEmpty", [], [name]);
    const element = message(1, [message(1, [integer(1, TYPES.float32)])]);
    this.#outputs.unshift(message(GRAPH.output, [text(1, name), message(2, [message(4, [element])])]));
  }

  /** Returns the file in chunks; large data is not copied. */
  pieces(): readonly Uint8Array[] {
    const graph = this.graphPieces();
    const length = graph.reduce((sum, piece) => sum + piece.length, 0);
    const model = encodeMessage([
      integer(MODEL.irVersion, IR_VERSION),
      message(MODEL.operatorSet, [text(1, ""), integer(2, OPERATOR_SET)]),
      message(MODEL.operatorSet, [text(1, OWN_DOMAIN), integer(2, 1)]),
    ]);
    return [model, tagAndLength(MODEL.graph, length), ...graph];
  }

  /** Returns the encoded graph, without the model around it, in chunks. */
  graphPieces(): readonly Uint8Array[] {
    const before = encodeMessage([...this.#nodes, text(GRAPH.name, "graph")]);
    const after = encodeMessage([...this.#inputs, ...this.#outputs]);
    const constants = [...this.#constants.values()].flatMap(([head, data]) => {
      if (data === null) return [tagAndLength(GRAPH.initializer, head.length), head];
      const size = tagAndLength(TENSOR.rawData, data.length);
      const whole = head.length + size.length + data.length;
      return [tagAndLength(GRAPH.initializer, whole), head, size, data];
    });
    return [before, ...constants, after];
  }

  #newName(): string {
    this.#count += 1;
    return `${this.#prefix}value.${this.#count}`;
  }
}

const IR_VERSION = 9;
const OPERATOR_SET = 20;
const OWN_DOMAIN = "com.microsoft";
export const MODEL = { irVersion: 1, graph: 7, operatorSet: 8 };
export const GRAPH = { node: 1, name: 2, initializer: 5, input: 11, output: 12 };
export const NODE = { input: 1, output: 2, operation: 4, attribute: 5, domain: 7 };
export const ATTRIBUTE = { name: 1, f: 2, i: 3, s: 4, g: 6, ints: 8, type: 20 };
export const TENSOR = {
  ...{ dims: 1, dataType: 2, floatData: 4, int32Data: 5, int64Data: 7, name: 8, rawData: 9 },
  ...{ externalData: 13, dataLocation: 14 },
};
export const TYPES = {
  ...{ float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7 },
  ...{ bool: 9, float16: 10, bfloat16: 16 },
};

export function attribute(name: string, value: Attribute): Field[] {
  if (typeof value === "number") {
    return [text(ATTRIBUTE.name, name), integer(ATTRIBUTE.i, value), integer(ATTRIBUTE.type, 2)];
  }
  if ("float" in value) {
    const bytes = new Uint8Array(Float32Array.of(value.float).buffer);
    const field: Field = { number: ATTRIBUTE.f, value: bytes, fixed: 5 };
    return [text(ATTRIBUTE.name, name), field, integer(ATTRIBUTE.type, 1)];
  }
  if ("text" in value) {
    return [text(ATTRIBUTE.name, name), text(ATTRIBUTE.s, value.text), integer(ATTRIBUTE.type, 3)];
  }
  if ("graph" in value) {
    const graph: Field = { number: ATTRIBUTE.g, value: Buffer.concat(value.graph.graphPieces()) };
    return [text(ATTRIBUTE.name, name), graph, integer(ATTRIBUTE.type, 5)];
  }
  return [
    text(ATTRIBUTE.name, name),
    ...value.map((each) => integer(ATTRIBUTE.ints, each)),
    integer(ATTRIBUTE.type, 7),
  ];
}

function externalConstant(name: string, { type, shape, file, from, bytes }: ExternalData): Field[] {
  const entry = (key: string, value: string): Field =>
    message(TENSOR.externalData, [text(1, key), text(2, value)]);
  return [
    ...shape.map((size) => integer(TENSOR.dims, size)),
    integer(TENSOR.dataType, TYPES[type]),
    text(TENSOR.name, name),
    entry("location", file),
    entry("offset", String(from)),
    entry("length", String(bytes)),
    integer(TENSOR.dataLocation, 1),
  ];
}

function valueInfo(name: string, type: ElementType, shape: Dimensions): Field[] {
  const sizes = shape.map((size) =>
    message(1, [typeof size === "number" ? integer(1, size) : text(2, size)]),
  );
  return [text(1, name), message(2, [message(1, [integer(1, TYPES[type]), message(2, sizes)])])];
}

function typeOf(data: ConstantData): ElementType {
  if (data instanceof Float32Array) return "float32";
  if (data instanceof Uint8Array) return "uint8";
  if (data instanceof Int8Array) return "int8";
  return data instanceof Int32Array ? "int32" : "int64";
}

/** Returns the tag and length of a length-delimited field. */
function tagAndLength(number: number, length: number): Uint8Array {
  return Uint8Array.from([...varint(BigInt((number << 3) | 2)), ...varint(BigInt(length))]);
}
