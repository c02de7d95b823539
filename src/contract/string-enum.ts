import Type, { type TUnsafe } from "typebox";

interface TypeOf {
  string: string;
  number: number;
  integer: number;
}

/** Returns the schema of one of several strings: an `enum`, which error messages and OpenAPI tools list. */
export function stringEnum<const T extends string>(values: readonly T[], keywords: object = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type: "string", enum: [...values], ...keywords });
}

/** Returns the schema of a value or `null`, as one list of types, which error messages and OpenAPI tools name. */
export function nullable<T extends keyof TypeOf>(type: T, keywords: object = {}): TUnsafe<TypeOf[T] | null> {
  return Type.Unsafe<TypeOf[T] | null>({ type: [type, "null"], ...keywords });
}
