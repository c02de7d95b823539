import { Check } from "typebox/schema";
import { readSettingsJson } from "../contract/json/read-json.ts";
import { HOST_AND_PORT, HTTP_ADDRESS } from "./bounds.ts";
import { SettingsSchema } from "./schema.ts";

/** The schema of one setting, as far as it is read here. */
export interface LeafSchema {
  readonly type?: "integer" | "boolean" | "string" | "object" | "array";
  readonly enum?: readonly string[];
  readonly anyOf?: readonly object[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly unit?: string;
  /** What it takes in words, where its type does not say it. */
  readonly takes?: string;
  readonly description?: string;
  /** Of an object: its own members and which of them have to be there, or what each that is named so is. */
  readonly properties?: Readonly<Record<string, LeafSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, LeafSchema>>;
  readonly additionalProperties?: boolean;
  /** Its members beside which there may be no other, and then no other's default. */
  readonly alone?: readonly string[];
}

/** One setting under the names that it has in its three sources. */
export interface Leaf {
  /** In the file: `["metrics", "port"]`. */
  readonly path: readonly string[];
  /** In prose and as a flag's key: `metrics.port`. */
  readonly name: string;
  /** `ANTIPHON_METRICS_PORT`. */
  readonly variable: string;
  /** `--metrics-port`. */
  readonly flag: string;
  readonly schema: LeafSchema;
}

/** Every setting, in the order of the schema. */
export const LEAVES: readonly Leaf[] = leavesOf(SettingsSchema, []);

interface GroupSchema {
  readonly properties: Readonly<Record<string, object>>;
}

function leavesOf(group: GroupSchema, path: readonly string[]): Leaf[] {
  return Object.entries(group.properties).flatMap(([key, schema]) =>
    "properties" in schema
      ? leavesOf(schema as GroupSchema, [...path, key])
      : [leafOf([...path, key], schema as LeafSchema)],
  );
}

function leafOf(path: readonly string[], schema: LeafSchema): Leaf {
  return { path, ...namesOf(path), schema };
}

/** What a setting is called in prose, in the environment and as a flag. */
export function namesOf(path: readonly string[]): Pick<Leaf, "name" | "variable" | "flag"> {
  const words = path.flatMap((part) => part.split(/(?=[A-Z])/)).map((word) => word.toLowerCase());
  return {
    name: path.join("."),
    variable: `ANTIPHON_${words.join("_").toUpperCase()}`,
    flag: `--${words.join("-")}`,
  };
}

/** Whether a value is what a setting takes. Nothing is coerced. */
export function accepts(schema: LeafSchema, value: unknown): boolean {
  return Check(schema, value);
}

/**
 * Reads the text of a variable or a flag as the type of its setting: digits for a whole number, `true` or `false`, a
 * comma-separated list, JSON for things by their names. Text that is none of these stays text, which {@link accepts} then refuses.
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

/** What a setting takes, in words that complete "it takes …". */
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
