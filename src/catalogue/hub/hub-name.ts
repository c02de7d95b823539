import { PullError } from "../pull/pull-error.ts";

/** A GGUF on the hub as a person names it. */
export interface HubName {
  /** `OWNER/REPO`. */
  readonly repository: string;
  /** A file within it, or the end of one's name; `null` leaves the choice to us. */
  readonly file: string | null;
}

/** Begins the name of what is on the hub. */
export const HUB_PREFIX = "hf:";

/**
 * Reads `hf:OWNER/REPO[:FILE]`.
 *
 * @throws PullError when it is none.
 */
export function parseHubName(text: string): HubName {
  const [, repository, file = null] = HUB_NAME.exec(text) ?? [];
  if (repository === undefined || repository.includes("..") || (file !== null && !isHubPath(file))) {
    throw new PullError(
      `${JSON.stringify(text)} names nothing on the hub: write hf:OWNER/REPO, or hf:OWNER/REPO:FILE.gguf for one of its files.`,
    );
  }
  return { repository, file };
}

/** Whether a path within a repository can be asked for, and leads nowhere else. */
export function isHubPath(path: string): boolean {
  return HUB_PATH.test(path) && !path.split("/").some((part) => part === "" || part === "." || part === "..");
}

/** The same as a person types it. */
export function shownHubName({ repository, file }: HubName): string {
  return `${HUB_PREFIX}${repository}${file === null ? "" : `:${file}`}`;
}

const HUB_PATH = /^[\w.+@=~ ()/-]{1,255}$/;
const HUB_NAME = /^hf:([A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9_][\w.-]{0,95})(?::(.{1,255}))?$/;
