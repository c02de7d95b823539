import { Check } from "typebox/schema";
import { isRecord } from "../core/is-record.ts";
import { nearestName } from "../core/nearest-name.ts";
import { accepts, expectation, type LeafSchema } from "./leaves.ts";

/** An invalid part of a setting. */
export interface Fault {
  /** Full name: `checkpoints.kokoro.remote.format`. */
  readonly name: string;
  readonly value: unknown;
  /** `unknown` for an unknown key, `missing` for a required one. */
  readonly kind: "unknown" | "missing" | "wrong";
  /** What it takes, to complete "it takes …"; for an unknown key the nearest known one, or `null`. */
  readonly takes: string | null;
}

/** Returns the first invalid part of an object setting, or `null`. */
export function faultIn(schema: LeafSchema, value: unknown, name: string): Fault | null {
  const members = schema.properties;
  const each = schema.patternProperties;
  if (members === undefined && (each === undefined || schema.additionalProperties !== false)) {
    return accepts(schema, value) ? null : { name, value, kind: "wrong", takes: expectation(schema) };
  }
  if (!isRecord(value)) return { name, value, kind: "wrong", takes: expectation(schema) };
  for (const [key, part] of Object.entries(value)) {
    const inner = `${name}.${key}`;
    const of = members === undefined ? ofPattern(each ?? {}, key) : ownMember(members, key);
    if (of === null) return unknown(name, key, part, members ?? null);
    const fault = faultIn(of, part, inner);
    if (fault !== null) return fault;
  }
  const lonely = aloneIn(schema, value);
  const beside = Object.keys(value).find((key) => lonely !== null && key !== lonely);
  if (beside !== undefined) {
    const takes = `nothing where ${name}.${lonely} is given: leave one of the two out`;
    return { name: `${name}.${beside}`, value: value[beside], kind: "wrong", takes };
  }
  const missing = neededIn(schema).find((key) => !Object.hasOwn(value, key));
  if (missing === undefined) return null;
  const takes = expectation(members?.[missing] ?? {});
  return { name: `${name}.${missing}`, value: undefined, kind: "missing", takes };
}

/** Returns the required members that have no default. */
export function neededIn({ required = [], properties = {} }: LeafSchema): string[] {
  return required.filter((key) => properties[key]?.default === undefined);
}

/** Returns an object setting with the defaults of missing members. */
export function withDefaults(schema: LeafSchema, value: unknown): unknown {
  if (!isRecord(value)) return value;
  const lonely = aloneIn(schema, value);
  if (lonely !== null) return { [lonely]: withDefaults(schema.properties![lonely]!, value[lonely]) };
  if (schema.properties === undefined) {
    const filled = Object.entries(value).map(([key, part]) => {
      const of = ofPattern(schema.patternProperties ?? {}, key);
      return [key, of === null ? part : withDefaults(of, part)];
    });
    return Object.fromEntries(filled);
  }
  const filled = Object.entries(schema.properties).flatMap(([key, of]) => {
    const part = Object.hasOwn(value, key) ? withDefaults(of, value[key]) : of.default;
    return part === undefined ? [] : [[key, part]];
  });
  return Object.fromEntries(filled);
}

/** Returns the member that excludes all others, or `null`. */
function aloneIn({ alone = [] }: LeafSchema, value: Record<string, unknown>): string | null {
  return alone.find((key) => Object.hasOwn(value, key)) ?? null;
}

type Schemas = Readonly<Record<string, LeafSchema>>;

function unknown(parent: string, key: string, value: unknown, members: Schemas | null): Fault {
  const name = `${parent}.${key}`;
  if (members !== null) {
    const meant = nearestName(key, Object.keys(members));
    return { name, value, kind: "unknown", takes: meant === null ? null : `${parent}.${meant}` };
  }
  const takes =
    "names of at most 64 letters, digits, dots, hyphens and underscores, which begin with one of the first two";
  return { name: parent, value: key, kind: "wrong", takes };
}

function ownMember(members: Schemas, key: string): LeafSchema | null {
  return Object.hasOwn(members, key) ? members[key]! : null;
}

function ofPattern(patterns: Schemas, key: string): LeafSchema | null {
  for (const [pattern, schema] of Object.entries(patterns)) {
    if (Check({ type: "string", pattern }, key)) return schema;
  }
  return null;
}
