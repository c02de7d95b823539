import type { ExpectedFile } from "../installed-checkpoint.ts";
import { PullError } from "./pull-error.ts";

/** A GGUF on the hub, as a user names it. */
export interface HubName {
  /** `OWNER/REPO`. */
  readonly repository: string;
  /** Path or file name; `null` for the default choice. */
  readonly file: string | null;
}

export const HUB_PREFIX = "hf:";

/** Parses `hf:OWNER/REPO[:FILE]`. @throws PullError if it is invalid */
export function parseHubName(text: string): HubName {
  const [, repository, file = null] = HUB_NAME.exec(text) ?? [];
  if (repository === undefined || repository.includes("..") || (file !== null && !isHubPath(file))) {
    throw new PullError(
      `${JSON.stringify(text)} is not a name on the hub: write hf:OWNER/REPO, or hf:OWNER/REPO:FILE.gguf for one of its files.`,
    );
  }
  return { repository, file };
}

/** Returns whether a path within a repository is well-formed and leads nowhere else. */
export function isHubPath(path: string): boolean {
  return HUB_PATH.test(path) && !path.split("/").some((part) => part === "" || part === "." || part === "..");
}

/** Formats what {@link parseHubName} reads. */
export function formatHubName({ repository, file }: HubName): string {
  return `${HUB_PREFIX}${repository}${file === null ? "" : `:${file}`}`;
}

const HUB_PATH = /^[\w.+@=~ ()/-]{1,255}$/;
const HUB_NAME = /^hf:([A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9_][\w.-]{0,95})(?::(.{1,255}))?$/;

interface Listing {
  readonly repository: string;
  readonly files: readonly ExpectedFile[];
}

/** A GGUF file with a known digest. */
export type ChosenFile = ExpectedFile & { readonly sha256: string };

const DEFAULT_QUANTISATION = /q4_k_m/i;
/** Part of a model in several files. */
const SPLIT = /-\d{5}-of-\d{5}\.gguf$/i;
/** Vision encoder, which writes no text. */
const PROJECTOR = /(^|[/_.-])mmproj/i;

/**
 * Chooses a GGUF file of a repository: the named one, the only one, or the 4-bit one.
 *
 * @throws PullError that lists the files, or says what is wrong with the one
 */
export function chooseGgufFile(repository: Listing, wanted: string | null): ChosenFile {
  const files = repository.files.filter(({ path }) => /\.gguf$/i.test(path) && !PROJECTOR.test(path));
  if (files.length === 0) {
    throw new PullError(
      `The repository ${repository.repository} has no GGUF file: choose a repository that has one; their names often end in -GGUF.`,
    );
  }
  const matches = wanted === null ? defaultFiles(files) : filesNamed(files, wanted);
  const [file] = matches;
  if (file === undefined || matches.length > 1) {
    const what =
      wanted === null ? "several GGUF files" : `${matches.length === 0 ? "no" : "several"} ${wanted}`;
    throw new PullError(
      `The repository ${repository.repository} has ${what}: name one of these, as in ` +
        `hf:${repository.repository}:${(file ?? files[0]!).path}. There are ${listed(files)}.`,
    );
  }
  return requireVerifiable(repository, file);
}

function defaultFiles(files: readonly ExpectedFile[]): readonly ExpectedFile[] {
  if (files.length === 1) return files;
  const unsplit = files.filter(({ path }) => !SPLIT.test(path));
  if (unsplit.length === 1) return unsplit;
  const found = unsplit.filter(({ path }) => DEFAULT_QUANTISATION.test(path));
  return found.length === 1 ? found : files;
}

/** Matches the path, else path or file name case-insensitively. */
function filesNamed(files: readonly ExpectedFile[], wanted: string): readonly ExpectedFile[] {
  const exact = files.filter(({ path }) => path === wanted);
  if (exact.length > 0) return exact;
  const lower = wanted.toLowerCase();
  return files.filter(({ path }) => [path, fileName(path)].some((name) => name.toLowerCase() === lower));
}

function requireVerifiable({ repository }: Listing, { path, sizeBytes, sha256 }: ExpectedFile): ChosenFile {
  if (SPLIT.test(path)) {
    throw new PullError(
      `The file ${path} of ${repository} is one part of a model that was cut into several files, which cannot be used: ` +
        "choose a repository that has it in one.",
    );
  }
  if (sizeBytes === 0 || sha256 === undefined) {
    throw new PullError(
      `The hub states no size or no SHA-256 for ${path} of ${repository}, so a download could not be checked: choose another file.`,
    );
  }
  return { path, sizeBytes, sha256 };
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

const MAX_LISTED = 12;

function listed(files: readonly ExpectedFile[]): string {
  const names = files.map(({ path }) => path).sort();
  const more = names.length - MAX_LISTED;
  return more > 0 ? `${names.slice(0, MAX_LISTED).join(", ")} and ${more} more` : names.join(", ");
}
