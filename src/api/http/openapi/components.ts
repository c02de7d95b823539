import type { TSchema } from "typebox";

export type Json = { [key: string]: unknown };

/** Gives a reference to a schema. */
export type Ref = (schema: TSchema | Json) => Json;

/**
 * Collects the components of a document: `ref` moves every titled schema, however deep, into `schemas` and leaves a
 * reference in its place.
 */
export function componentsOf(): { ref: Ref; schemas: Json } {
  const schemas: Json = {};
  return { ref: (schema) => move(schema) as Json, schemas };

  function move(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(move);
    if (value === null || typeof value !== "object") return value;
    const node = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, move(child)]));
    if (typeof node.title !== "string" || !("type" in node || "oneOf" in node)) return node;
    schemas[node.title] = node;
    return referenceTo(node.title);
  }
}

/** A reference to a schema of that title. */
export function referenceTo(title: string): Json {
  return { $ref: `#/components/schemas/${title}` };
}
