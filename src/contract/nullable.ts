import Type, { type TUnsafe } from "typebox";

type NumberKeywords = { minimum?: number; maximum?: number; default?: null; description: string };

/** `number or null`, as one JSON Schema type list, so that a message names both and OpenAPI shows both. */
export function nullableNumber(keywords: NumberKeywords): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ type: ["number", "null"], ...keywords });
}

/** `integer or null`. */
export function nullableInteger(keywords: NumberKeywords): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ type: ["integer", "null"], ...keywords });
}

/** `string or null`. */
export function nullableString(keywords: {
  maxLength?: number;
  default?: null;
  contentEncoding?: "base64";
  description: string;
}): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ["string", "null"], ...keywords });
}
