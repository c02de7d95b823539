import { ATTRIBUTE, attribute, NODE } from "./graph-file.ts";
import { bytesOf, decodeMessage, type Field, message, text, textsOf } from "./protobuf.ts";

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
