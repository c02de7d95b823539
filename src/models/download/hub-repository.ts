import { setTimeout as sleep } from "node:timers/promises";
import Type, { type Static, type TSchema } from "typebox";
import { Check } from "typebox/schema";
import { stopWith } from "../../core/stop-with.ts";
import { GIT_SHA1, REPOSITORY, SHA256 } from "../checkpoint-manifest.ts";
import type { ExpectedFile } from "../installed-checkpoint.ts";
import { openUrl, statusError } from "./http-download.ts";
import { isHubPath } from "./hub-name.ts";
import type { FetchContext } from "./options.ts";
import { messageOf, PullError, SourceError } from "./pull-error.ts";

type HubRequest = Pick<FetchContext, "env" | "times" | "signal">;

/** A repository at one commit. */
export interface HubRepository {
  /** The hub's spelling. */
  readonly repository: string;
  /** Commit, 40 hexadecimal digits. All later requests use it, even if the branch moves. */
  readonly revision: string;
  /** The hub's name for it; `null` if it states none. */
  readonly licence: string | null;
  readonly licenceLink: string | null;
  readonly files: readonly ExpectedFile[];
}

const Bytes = Type.Integer({ minimum: 0 });

function nullish<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Response of `/api/models/OWNER/REPO/revision/main?blobs=true`. */
const Answer = Type.Object({
  id: Type.Optional(Type.String({ pattern: REPOSITORY })),
  sha: Type.String({ pattern: GIT_SHA1 }),
  siblings: Type.Array(
    Type.Object({
      rfilename: Type.String({ minLength: 1 }),
      size: nullish(Bytes),
      blobId: Type.Optional(Type.Unknown()),
      lfs: nullish(Type.Object({ size: Bytes, sha256: Type.String({ pattern: SHA256 }) })),
    }),
  ),
  cardData: Type.Optional(Type.Unknown()),
});

/** Repositories with many files have responses of some megabytes. */
const MAX_BYTES = 16 * 2 ** 20;

/**
 * Asks the hub for a repository at its branch `main`.
 *
 * @throws PullError, one sentence with the remedy; the signal's reason
 */
export async function readHubRepository(repository: string, asking: HubRequest): Promise<HubRepository> {
  const { env, signal } = asking;
  const refuse = (why: string) => new PullError(`${hubHost(env)} gave no listing of ${repository}: ${why}.`);
  let text: string;
  try {
    const path = `${repository}/revision/main?blobs=true`;
    text = await fetchText(path, repository, asking);
  } catch (error) {
    signal.throwIfAborted();
    throw refuse(messageOf(error));
  }
  const answer = parseAs(Answer, text);
  if (answer === null) throw refuse("its answer is not that of a model hub; check HF_ENDPOINT");
  const { license, license_link } = parseCard(answer.cardData);
  return {
    repository: answer.id === undefined || answer.id.includes("..") ? repository : answer.id,
    revision: answer.sha,
    licence: license,
    licenceLink: license_link,
    // Files with invalid paths are ignored.
    files: answer.siblings
      .filter(({ rfilename }) => isHubPath(rfilename))
      .map(({ rfilename, size, blobId, lfs }) => {
        if (lfs && size != null && size !== lfs.size) {
          throw refuse(
            `it states two sizes for ${rfilename}, ${size} and ${lfs.size} bytes; try again later`,
          );
        }
        return lfs
          ? { path: rfilename, sizeBytes: lfs.size, sha256: lfs.sha256 }
          : gitFile(rfilename, size, blobId);
      }),
  };
}

/** Response of `/api/models/OWNER/REPO/tree/COMMIT?recursive=true`. */
const Tree = Type.Array(
  Type.Object({
    type: Type.String(),
    path: Type.String({ minLength: 1 }),
    oid: Type.Optional(Type.Unknown()),
    size: Type.Optional(Bytes),
    /** `oid`: SHA-256, with or without a prefix. */
    lfs: nullish(Type.Object({ size: Bytes, oid: Type.String({ pattern: "^(sha256:)?[0-9a-f]{64}$" }) })),
  }),
);

/**
 * Adds sizes and digests from the tree listing, since the repository's entry on a mirror may have names only.
 *
 * @throws PullError, one sentence with the remedy; the signal's reason
 */
export async function withTree(repository: HubRepository, asking: HubRequest): Promise<HubRepository> {
  const path = `${repository.repository}/tree/${repository.revision}?recursive=true`;
  const text = await fetchText(path, repository.repository, asking).catch(() => {
    asking.signal.throwIfAborted();
    return "";
  });
  const stated = new Map<string, ExpectedFile>();
  for (const { type, path, oid, size, lfs } of parseAs(Tree, text) ?? []) {
    if (type !== "file") continue;
    stated.set(
      path,
      lfs ? { path, sizeBytes: lfs.size, sha256: lfs.oid.replace("sha256:", "") } : gitFile(path, size, oid),
    );
  }
  const files = repository.files.map((file) => stated.get(file.path) ?? file);
  return { ...repository, files };
}

/** For files not in LFS; the blob id of an LFS file would be its pointer's. */
function gitFile(path: string, size: number | null | undefined, blob: unknown): ExpectedFile {
  const isName = typeof blob === "string" && new RegExp(GIT_SHA1).test(blob);
  return { path, sizeBytes: size ?? 0, ...(isName ? { gitSha1: blob } : {}) };
}

/** Queries the API, retrying transient errors. */
async function fetchText(path: string, repository: string, asking: HubRequest): Promise<string> {
  const { times, signal } = asking;
  const access = hubAccess(asking.env);
  for (let tries = 0; ; tries++) {
    try {
      return await fetchTextOnce(path, repository, access, asking);
    } catch (error) {
      signal.throwIfAborted();
      const delayMs = times.retryDelaysMs[tries];
      if (!(error instanceof SourceError) || !error.isTransient || delayMs === undefined) throw error;
      const waitMs = Math.max(delayMs, error.retryAfterMs ?? 0);
      if (waitMs > times.maxWaitMs) throw error;
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

async function fetchTextOnce(
  path: string,
  repository: string,
  access: HubAccess,
  { times, signal }: HubRequest,
): Promise<string> {
  const late = new SourceError(`its answer takes longer than ${times.stallTimeoutMs / 1_000} s`);
  const stop = stopWith([signal], { ms: times.stallTimeoutMs, late: () => late });
  let answer: Awaited<ReturnType<typeof openUrl>> | null = null;
  try {
    answer = await openUrl(
      `${access.endpoint}/api/models/${path}`,
      { accept: "application/json", ...access.headers },
      times,
      stop.signal,
    );
    const { statusCode = 0 } = answer;
    if (statusCode === 401 || statusCode === 403) {
      throw new SourceError(
        `it answers with status ${statusCode}, so ${tokenRemedy(repository, access, statusCode)}`,
      );
    }
    if (statusCode === 404) throw new SourceError("it has no such repository; check the name");
    if (statusCode !== 200) throw statusError(answer, "; try again later");
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of answer) {
      pieces.push(piece as Buffer);
      bytes += (piece as Buffer).length;
      if (bytes > MAX_BYTES) throw new SourceError("its response is too large");
    }
    return Buffer.concat(pieces).toString("utf8");
  } catch (error) {
    throw stop.signal.reason === late ? late : error;
  } finally {
    stop.end();
    answer?.destroy();
  }
}

function parseAs<T extends TSchema>(schema: T, text: string): Static<T> | null {
  try {
    const value: unknown = JSON.parse(text);
    return Check(schema, value) ? (value as Static<T>) : null;
  } catch {
    return null;
  }
}

/** Reads the licence from the head of the README, which its author wrote by hand. */
function parseCard(card: unknown): { license: string | null; license_link: string | null } {
  const text = (key: string): string | null => {
    if (typeof card !== "object" || card === null) return null;
    const value: unknown = (card as Record<string, unknown>)[key];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === "string" && /^[\x20-\x7e]{1,300}$/.test(first) ? first : null;
  };
  const stated = text("license");
  const link = text("license_link");
  return {
    license: stated === "other" ? (text("license_name") ?? stated) : stated,
    license_link: link?.startsWith("https://") === true ? link : null,
  };
}

/** The model hub's default address. */
export const HUB = "https://huggingface.co";

/** Address of the hub, and the headers of its requests. */
interface HubAccess {
  /** Has no trailing slash. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** `HF_ENDPOINT` names a mirror with the same layout. */
function hubEndpoint(env: Readonly<Record<string, string | undefined>>): string {
  return (env.HF_ENDPOINT || HUB).replace(/\/+$/, "");
}

/** Returns the hub's name for messages. */
export function hubHost(env: Readonly<Record<string, string | undefined>>): string {
  return hostOf(hubEndpoint(env));
}

/** Returns the host of a URL; the text itself if it is none. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** Reads `HF_ENDPOINT` and `HF_TOKEN`. @throws SourceError if the token is malformed */
export function hubAccess(env: Readonly<Record<string, string | undefined>>): HubAccess {
  const endpoint = hubEndpoint(env);
  const token = env.HF_TOKEN?.trim() ?? "";
  if (token === "") return { endpoint, headers: {} };
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new SourceError(
      "HF_TOKEN holds characters that no token has: copy it again from the hub, or unset it",
    );
  }
  return { endpoint, headers: { authorization: `Bearer ${token}` } };
}

/** Returns the remedy for status 401 or 403, which ends a sentence. */
export function tokenRemedy(repository: string, { headers }: HubAccess, status: number): string {
  const page = `${HUB}/${repository}`;
  if (headers.authorization === undefined) {
    return (
      `there is no ${repository}, or not without a token: look at ${page}, accept its terms there if it has ` +
      "some, and set HF_TOKEN to a token of yours that may read it"
    );
  }
  if (status === 401)
    return `the token in HF_TOKEN is not accepted, or there is no ${repository}: make another token, or look at ${page}`;
  return `the token in HF_TOKEN may not read ${repository}: accept its terms at ${page}, or give the token the right to`;
}
