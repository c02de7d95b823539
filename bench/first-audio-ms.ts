import type { LoadResult } from "./load/load-job.ts";
import { percentile } from "./load/percentile.ts";

/** How long the first audio took. @throws Error when a request failed: its time means nothing. */
export function firstAudioMs(utterances: readonly LoadResult[]): {
  readonly p50: number;
  readonly p95: number;
} {
  const values = utterances.map(({ firstAudioMs: ms, failure }) => {
    if (failure !== null || ms === null) throw new Error(`a request failed: ${failure ?? "no audio came"}`);
    return ms;
  });
  return { p50: percentile(values, 0.5), p95: percentile(values, 0.95) };
}
