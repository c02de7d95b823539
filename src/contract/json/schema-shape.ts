/** What to keep of a value. Union variants are merged; validation follows. */
export interface Shape {
  /** Members that the schema names. */
  readonly members: ReadonlyMap<string, Shape>;
  /** Names of the members that at least one variant does not require. */
  readonly optional: ReadonlySet<string>;
  /** Shape of members with arbitrary names; `null`: none are kept. */
  readonly others: Shape | null;
  readonly maxOthers: number;
  /** Shape of an array's items; `null`: arrays are not kept. */
  readonly item: Shape | null;
  readonly maxItems: number;
  /** Maximum code points of a string. */
  readonly maxChars: number;
  /** Whether long strings are base64, and stay in the buffer until requested. */
  readonly isAudio: boolean;
  /** Maximum bytes of an object that is kept as JSON text; 0: it is parsed. */
  readonly maxTextBytes: number;
  readonly allowsNull: boolean;
}

/** Maximum for strings without `maxLength`; the code that uses them, or their `enum`, allows fewer. */
const DEFAULT_MAX_CHARS = 10_000;
/** Maximum for arrays, and for objects with arbitrary names. */
const DEFAULT_MAX_COUNT = 100;

interface Schema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly maxProperties?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly contentEncoding?: string;
  /** Maximum bytes of a value kept as {@link JsonText}: our own keyword. */
  readonly maxTextBytes?: number;
  /** Schema to read by, for a value that is validated later: our own keyword. */
  readonly readAs?: Schema;
}

const shapes = new WeakMap<object, Shape>();

export function shapeOf(schema: object): Shape {
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const { readAs, anyOf, oneOf } = schema as Schema;
  const variants = readAs === undefined ? (anyOf ?? oneOf) : [readAs];
  const shape = variants === undefined ? shapeOfOne(schema as Schema) : merged(variants.map(shapeOf));
  shapes.set(schema, shape);
  return shape;
}

function shapeOfOne(schema: Schema): Shape {
  const { type, properties = {}, required = [], additionalProperties } = schema;
  const names = Object.keys(properties);
  return {
    members: new Map(names.map((name) => [name, shapeOf(properties[name]!)])),
    optional: new Set(names.filter((name) => !required.includes(name))),
    others: typeof additionalProperties === "object" ? shapeOf(additionalProperties) : null,
    maxOthers: schema.maxProperties ?? DEFAULT_MAX_COUNT,
    item: schema.items === undefined ? null : shapeOf(schema.items),
    maxItems: schema.maxItems ?? DEFAULT_MAX_COUNT,
    maxChars: schema.maxLength ?? DEFAULT_MAX_CHARS,
    isAudio: schema.contentEncoding === "base64",
    maxTextBytes: schema.maxTextBytes ?? 0,
    allowsNull: type === undefined || [type].flat().includes("null"),
  };
}

function merged(shapes: readonly Shape[]): Shape {
  const [first] = shapes;
  if (shapes.length === 1) return first!;
  const names = new Set(shapes.flatMap(({ members }) => [...members.keys()]));
  const present = (pick: (shape: Shape) => Shape | null | undefined): Shape[] =>
    shapes.map(pick).filter((each) => each !== null && each !== undefined);
  const mergedOrNull = (found: readonly Shape[]) => (found.length === 0 ? null : merged(found));
  const maxOf = (pick: (shape: Shape) => number) => Math.max(...shapes.map(pick));
  return {
    members: new Map([...names].map((name) => [name, merged(present(({ members }) => members.get(name)))])),
    optional: new Set(shapes.flatMap(({ optional }) => [...optional])),
    others: mergedOrNull(present(({ others }) => others)),
    maxOthers: maxOf(({ maxOthers }) => maxOthers),
    item: mergedOrNull(present(({ item }) => item)),
    maxItems: maxOf(({ maxItems }) => maxItems),
    maxChars: maxOf(({ maxChars }) => maxChars),
    isAudio: shapes.some(({ isAudio }) => isAudio),
    maxTextBytes: maxOf(({ maxTextBytes }) => maxTextBytes),
    allowsNull: shapes.some(({ allowsNull }) => allowsNull),
  };
}
