import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A folder without a usable checkpoint; the message says what is wrong and where. */
export class CheckpointError extends Error {
  override readonly name = "CheckpointError";
}

/** An option that the architecture does not have, or a wrong value of one. */
export class OptionError extends CheckpointError {}

const MAX_COUNT = 1_000;
const MAX_WIDTH = 2 ** 20;
const MAX_POSITIONS = 2 ** 20;

/** A JSON object of a checkpoint whose fields are checked when read. Errors name the full path of a field. */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #where: string;
  readonly #Failure: typeof CheckpointError;

  /**
   * @param where name of the object in errors: `config.json`
   * @param Failure class of the errors
   */
  constructor(values: unknown, where: string, Failure = CheckpointError) {
    this.#Failure = Failure;
    if (typeof values !== "object" || values === null || Array.isArray(values))
      throw new Failure(`There is no JSON object in ${where}.`);
    this.#values = values as Readonly<Record<string, unknown>>;
    this.#where = where;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#values, name) && this.#values[name] != null;
  }

  get names(): readonly string[] {
    return Object.keys(this.#values).filter((name) => this.has(name));
  }

  is(name: string, value: unknown): boolean {
    return this.has(name) && this.#values[name] === value;
  }

  group(name: string): Fields {
    return new Fields(this.#values[name], `${name} of ${this.#where}`, this.#Failure);
  }

  integer(name: string, fallback?: number, min = 1, max = Number.MAX_SAFE_INTEGER): number {
    const value = this.#read(name, fallback);
    if (!Number.isSafeInteger(value) || (value as number) < min)
      this.#fail(name, `a whole number of at least ${min}`);
    if ((value as number) > max) this.#fail(name, `a whole number of at most ${max}`);
    return value as number;
  }

  /** Returns a number of things that are written out one by one (layers, codebooks, taps), which is limited. */
  count(name: string, min = 1): number {
    return this.integer(name, undefined, min, MAX_COUNT);
  }

  /** Returns a width, which must be a multiple of `multiple`. */
  width(name: string, multiple = 1): number {
    const width = this.integer(name, undefined, 1, MAX_WIDTH);
    if (width % multiple !== 0) this.#fail(name, `a multiple of ${multiple}`);
    return width;
  }

  /** Returns the number of positions of a transformer, at least `min`. */
  positions(name: string, min = 1): number {
    return this.integer(name, undefined, min, MAX_POSITIONS);
  }

  /**
   * Returns the width of an attention head: `head_dim`, or else `shared`.
   *
   * @param multiple required by onnxruntime
   */
  headWidth(multiple: number, shared?: number): number {
    const width = this.integer("head_dim", shared);
    if (width % multiple === 0) return width;
    const by = this.has("head_dim") ? "" : ", by hidden_size and num_attention_heads";
    throw new this.#Failure(
      `In ${this.#where}, head_dim has to be a multiple of ${multiple}, since onnxruntime computes no other attention here; it is ${width}${by}.`,
    );
  }

  positive(name: string, fallback?: number): number {
    const value = this.#read(name, fallback);
    if (!Number.isFinite(value) || (value as number) <= 0) this.#fail(name, "a number above 0");
    return value as number;
  }

  text(name: string, fallback?: string): string {
    const value = this.#read(name, fallback);
    if (typeof value !== "string") this.#fail(name, "a text");
    return value as string;
  }

  flag(name: string, fallback?: boolean): boolean {
    const value = this.#read(name, fallback);
    if (typeof value !== "boolean") this.#fail(name, "true or false");
    return value as boolean;
  }

  positiveIntegers(name: string): readonly number[] {
    const value = this.#read(name);
    if (!Array.isArray(value) || !value.every((each) => Number.isSafeInteger(each) && each > 0))
      this.#fail(name, "a list of whole numbers above 0");
    return value as readonly number[];
  }

  /** Throws if a field that describes the architecture differs from what is implemented here. */
  expect(name: string, value: unknown): void {
    if (this.has(name) && this.#values[name] !== value)
      this.#fail(name, `${JSON.stringify(value)} for a model that can be run here`);
  }

  #read(name: string, fallback?: unknown): unknown {
    return this.has(name) ? this.#values[name] : fallback;
  }

  #fail(name: string, wanted: string): never {
    const found = JSON.stringify(this.#values[name]) ?? "missing";
    throw new this.#Failure(`In ${this.#where}, ${name} has to be ${wanted}; it is ${found}.`);
  }
}

/**
 * Parses the options of an architecture as fields.
 *
 * @param model its name in errors
 * @param known names of the text options, and of those that are numbers, true or false
 * @throws OptionError naming an unknown or wrong option
 */
export function optionFields(
  options: ReadonlyMap<string, string>,
  model: string,
  known: { readonly texts: readonly string[]; readonly values: readonly string[] },
): Fields {
  const values: Record<string, unknown> = {};
  for (const [name, value] of options) {
    if (known.texts.includes(name)) {
      values[name] = value;
      continue;
    }
    if (!known.values.includes(name)) {
      const names = [...known.texts, ...known.values].join(", ");
      throw new OptionError(`${model} has no option ${name}; it has ${names} and uniforms.`);
    }
    try {
      values[name] = JSON.parse(value.toLowerCase());
    } catch {
      throw new OptionError(`--option ${name} takes a number, true or false; it is ${value}.`);
    }
  }
  return new Fields(values, "--option", OptionError);
}

/** Reads a JSON file of a checkpoint. @throws CheckpointError if it is missing or not an object */
export async function readFields(folder: string, name: string): Promise<Fields> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(join(folder, name), "utf8"));
  } catch (cause) {
    throw new CheckpointError(`${name} is missing in ${folder}, or is no JSON.`, { cause });
  }
  return new Fields(value, name);
}
