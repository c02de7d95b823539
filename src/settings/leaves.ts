import { Check } from "typebox/schema";
import { readSettingsJson } from "../contract/json/read-json.ts";
import { HOST_AND_PORT, HTTP_ADDRESS } from "./bounds.ts";
import { SettingsSchema } from "./schema.ts";

/** The parts of a setting's schema that are used here. */
export interface LeafSchema {
  readonly type?: "integer" | "boolean" | "string" | "object" | "array";
  readonly enum?: readonly string[];
  readonly anyOf?: readonly object[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  /** Accepted values in words, if the type does not say them. */
  readonly takes?: string;
  readonly description?: string;
  /** Members of an object and which of them are required, or the schema of each named entry. */
  readonly properties?: Readonly<Record<string, LeafSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, LeafSchema>>;
  readonly additionalProperties?: boolean;
  /** Members that exclude all others and their defaults. */
  readonly alone?: readonly string[];
}

/** A setting with its names in the three sources. */
export interface Leaf {
  /** Path in the file: `["metrics", "port"]`. */
  readonly path: readonly string[];
  /** Name in prose and as a key: `metrics.port`. */
  readonly name: string;
  /** `ANTIPHON_METRICS_PORT`. */
  readonly variable: string;
  /** `--metrics-port`. */
  readonly flag: string;
  readonly schema: LeafSchema;
}

/** All settings in the order of the schema. */
export const LEAVES: readonly Leaf[] = leavesOf(SettingsSchema, []);

interface GroupSchema {
  readonly properties: Readonly<Record<string, object>>;
}

function leavesOf(group: GroupSchema, path: readonly string[]): Leaf[] {
  return Object.entries(group.properties).flatMap(([key, schema]) =>
    "properties" in schema
      ? leavesOf(schema as GroupSchema, [...path, key])
      : [{ path: [...path, key], ...namesOf([...path, key]), schema: schema as LeafSchema }],
  );
}

/** Returns the names of a setting in prose, in the environment and as a flag. */
export function namesOf(path: readonly string[]): Pick<Leaf, "name" | "variable" | "flag"> {
  const words = path.flatMap((part) => part.split(/(?=[A-Z])/)).map((word) => word.toLowerCase());
  return {
    name: path.join("."),
    variable: `ANTIPHON_${words.join("_").toUpperCase()}`,
    flag: `--${words.join("-")}`,
  };
}

/** Whether a value is valid for a setting. Nothing is coerced. */
export function accepts(schema: LeafSchema, value: unknown): boolean {
  return Check(schema, value);
}

/**
 * Parses a variable's or flag's text for its setting: digits as an integer, `true` or `false`, a comma-separated
 * list, or JSON for objects. Other text is returned as it is, for {@link accepts} to refuse.
 */
export function readText(schema: LeafSchema, text: string): unknown {
  if (schema.type === "object") return readJson(text);
  if (schema.type === "integer") return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (schema.type !== "boolean" && schema.anyOf === undefined) return text;
  if (text === "true" || text === "false") return text === "true";
  if (accepts(schema, text)) return text;
  return schema.anyOf === undefined ? text : text.split(",").map((item) => item.trim());
}

function readJson(text: string): unknown {
  try {
    return readSettingsJson(text);
  } catch {
    return text;
  }
}

/** Describes what a setting takes, to complete "it takes …". */
export function expectation(schema: LeafSchema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.takes !== undefined) return schema.takes;
  if (schema.type === "boolean") return "true or false";
  if (schema.pattern === HOST_AND_PORT) return "an address and a port, as in 127.0.0.1:10200";
  if (schema.pattern === HTTP_ADDRESS) return "an address that begins with http:// or https://";
  if (schema.type === "string") return "text that is not empty";
  if (schema.type === "object") return `an object with ${Object.keys(schema.properties ?? {}).join(", ")}`;
  return `a whole number from ${schema.minimum} to ${schema.maximum}`;
}
