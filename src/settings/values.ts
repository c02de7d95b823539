import { Check } from "typebox/schema";
import { readSettingsJson } from "../contract/json/read-json.ts";
import { HOST_AND_PORT, HTTP_ADDRESS } from "./bounds.ts";
import type { LeafSchema } from "./leaves.ts";

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
