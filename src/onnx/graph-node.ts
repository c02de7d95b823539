import { ATTRIBUTE, attribute, NODE } from "./graph-file.ts";
import { bytesOf, decodeMessage, encodeMessage, type Field, message, text, textsOf } from "./protobuf.ts";

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

/** A new operation. */
export function node(
  operation: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, number | readonly number[]>> = {},
): Node {
  const all = Object.entries(attributes);
  return {
    operation,
    inputs,
    outputs,
    integers: new Map(all.map(([name, value]) => [name, [value].flat()])),
    rest: all.map(([name, value]) => message(NODE.attribute, attribute(name, value))),
  };
}

/** The same operation without the named attribute, which then takes its default. */
export function withoutAttribute(from: Node, name: string): Node {
  const isIt = ({ number, value }: Field) =>
    number === NODE.attribute &&
    typeof value !== "bigint" &&
    textsOf(decodeMessage(value), ATTRIBUTE.name)[0] === name;
  const integers = new Map(from.integers);
  integers.delete(name);
  return { ...from, integers, rest: from.rest.filter((field) => !isIt(field)) };
}

/** An operation of its bytes in an ONNX file. */
export function readNode(bytes: Uint8Array): Node {
  const fields = decodeMessage(bytes);
  let integers: Node["integers"] | undefined;
  const known: readonly number[] = [NODE.input, NODE.output, NODE.operation];
  const node: Node = {
    operation: textsOf(fields, NODE.operation)[0] ?? "",
    inputs: textsOf(fields, NODE.input),
    outputs: textsOf(fields, NODE.output),
    get integers() {
      integers ??= integersIn(fields);
      return integers;
    },
    rest: fields.filter(({ number }) => !known.includes(number)),
  };
  AS_READ.set(node, bytes);
  return node;
}

/** The bytes of an operation. */
export function writeNode(node: Node): Uint8Array {
  const { operation, inputs, outputs, rest } = node;
  return (
    AS_READ.get(node) ??
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

/** What need not be written anew: a node that is changed is another object. */
const AS_READ = new WeakMap<Node, Uint8Array>();

function integersIn(fields: readonly Field[]): Node["integers"] {
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
