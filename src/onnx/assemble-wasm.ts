import { concatenate } from "./protobuf.ts";
import { type Code, i32, unsigned } from "./wasm-instructions.ts";

export type ValueType = "i32" | "f32" | "f64" | "v128";

export interface Local {
  readonly get: Code;
  set(value: Code): void;
}

/** A WebAssembly function under construction: parameters first, then statements in order. */
export class FunctionBody {
  readonly name: string;
  readonly parameters: readonly ValueType[];
  readonly result: ValueType | null;
  readonly #locals: ValueType[] = [];
  readonly #code: number[] = [];

  constructor(name: string, parameters: readonly ValueType[] = [], result: ValueType | null = null) {
    this.name = name;
    this.parameters = parameters;
    this.result = result;
  }

  parameter(index: number): Local {
    return this.#at(index);
  }

  local(type: ValueType): Local {
    this.#locals.push(type);
    return this.#at(this.parameters.length + this.#locals.length - 1);
  }

  /** Evaluates `value` once, at this point, and returns the code that reads the result. */
  keep(value: Code, type: ValueType = "v128"): Code {
    const local = this.local(type);
    local.set(value);
    return local.get;
  }

  emit(...code: Code[]): void {
    for (const part of code) layOut(part, this.#code);
  }

  /** Runs `body` with a counter from `from` in steps of `step` while it is below `below`, at least once. */
  loop(from: number, below: Code, step: number, body: (counter: Code) => void): void {
    const counter = this.local("i32");
    counter.set(i32.const(from));
    this.emit([0x03, 0x40]);
    body(counter.get);
    counter.set(i32.add(counter.get, i32.const(step)));
    this.emit(i32.lessThan(counter.get, below), [0x0d, 0x00, 0x0b]);
  }

  when(condition: Code, body: () => void): void {
    this.emit(condition, [0x04, 0x40]);
    body();
    this.emit([0x0b]);
  }

  /** Calls a function without parameters or results. */
  call(index: number): void {
    this.emit([0x10, ...unsigned(index)]);
  }

  /** Zeroes `bytes` bytes from `address`. */
  clear(address: number, bytes: number): void {
    this.emit(i32.const(address), i32.const(0), i32.const(bytes), [0xfc, 0x0b, 0x00]);
  }

  /** Entry of the function in the code section. */
  get bytes(): Uint8Array {
    const locals = this.#locals.flatMap((type) => [1, VALUE_TYPE[type]]);
    return sized(concatenate([unsigned(this.#locals.length), locals, this.#code, [0x0b]]));
  }

  #at(index: number): Local {
    const place = unsigned(index);
    return { get: [0x20, ...place], set: (value) => this.emit(value, [0x21, ...place]) };
  }
}

/** Assembles a module that imports a memory as `host.memory` and exports the functions by name. */
export function assemble(functions: readonly FunctionBody[], memoryPages: number): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ parameters, result }) =>
    concatenate([
      [0x60],
      vector(parameters.map((type) => [VALUE_TYPE[type]])),
      vector(result === null ? [] : [[VALUE_TYPE[result]]]),
    ]),
  );
  const memory = concatenate([named("host"), named("memory"), [0x02, 0x00], unsigned(memoryPages)]);
  const exports = functions.map(({ name }, index) => concatenate([named(name), [0x00], unsigned(index)]));
  return concatenate([
    [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    section(1, vector(types)),
    section(2, vector([memory])),
    section(3, vector(functions.map((_, index) => unsigned(index)))),
    section(7, vector(exports)),
    section(10, vector(functions.map(({ bytes }) => bytes))),
  ]);
}

function layOut(code: Code, into: number[]): void {
  for (const part of code) {
    if (typeof part === "number") into.push(part);
    else layOut(part, into);
  }
}

const VALUE_TYPE = { i32: 0x7f, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;

type Bytes = ArrayLike<number>;

function vector(items: readonly Bytes[]): Uint8Array {
  return concatenate([unsigned(items.length), ...items]);
}

function named(name: string): Uint8Array {
  return sized(new TextEncoder().encode(name));
}

function sized(bytes: Bytes): Uint8Array {
  return concatenate([unsigned(bytes.length), bytes]);
}

function section(id: number, content: Bytes): Uint8Array {
  return concatenate([[id], sized(content)]);
}
