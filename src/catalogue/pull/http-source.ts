import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { prepareForBody } from "./http-answer.ts";
import { brokenOff, openUrl, UnreachableError } from "./http-request.ts";
import type { PullTimes } from "./options.ts";
import type { PartFile } from "./part-file.ts";
import { PullError, SourceError } from "./pull-error.ts";
import { receive } from "./receive.ts";

/** Tells that a try failed and when the next one is. */
export type OnRetry = (problem: string, delayMs: number) => void;

/** An address, and what a request for it has to carry. */
export interface Address {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Completes a part from an address, going on where it ends. Tries again while a try brings enough that is new, and
 * a few times when it does not.
 *
 * @throws SourceError when the source is given up; PullError when the disk fails; the signal's reason.
 */
export async function fetchOverHttp(
  address: Address,
  part: PartFile,
  times: PullTimes,
  signal: AbortSignal,
  onRetry: OnRetry,
): Promise<void> {
  let maxBytes = part.doneBytes;
  let fruitless = 0;
  let wasReached = false;
  while (!part.isComplete) {
    const failure = await attempt(address, part, times, signal);
    if (failure === null) return;
    wasReached ||= !(failure instanceof UnreachableError);
    fruitless = part.doneBytes - maxBytes >= times.stallBytes ? 0 : fruitless + 1;
    maxBytes = Math.max(maxBytes, part.doneBytes);
    const delayMs = delayBefore(fruitless, failure, times);
    if (delayMs === null || !(failure.isPassing || (wasReached && failure instanceof UnreachableError))) {
      throw failure;
    }
    onRetry(failure.message, delayMs);
    await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** How long to wait before the next try; `null` when there is none. */
function delayBefore(fruitless: number, { retryAfterMs }: SourceError, times: PullTimes): number | null {
  if (fruitless > times.retryDelaysMs.length) return null;
  if (retryAfterMs !== null) return retryAfterMs > times.maxWaitMs ? null : retryAfterMs;
  return times.retryDelaysMs[Math.max(0, fruitless - 1)] ?? 0;
}

/** One request; `null` when the part is complete. */
async function attempt(
  address: Address,
  part: PartFile,
  times: PullTimes,
  signal: AbortSignal,
): Promise<SourceError | null> {
  try {
    const range = part.doneBytes > 0 ? { range: `bytes=${part.doneBytes}-` } : {};
    const answer = await openUrl(
      address.url,
      { "accept-encoding": "identity", ...address.headers, ...range },
      times,
      signal,
    );
    try {
      await prepareForBody(answer, part);
      await readBody(answer, part, times);
    } finally {
      answer.destroy();
    }
    return part.isComplete ? null : new SourceError("it ends the file too early", { isPassing: true });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SourceError) return error;
    if (error instanceof PullError) throw error;
    return new SourceError(brokenOff(error), { isPassing: true, cause: error });
  }
}

async function readBody(answer: IncomingMessage, part: PartFile, times: PullTimes): Promise<void> {
  let received = 0;
  const watch = setInterval(() => {
    if (received < times.stallBytes) {
      const stalled = `it sends less than ${times.stallBytes} bytes in ${times.stallTimeoutMs / 1_000} s`;
      answer.destroy(new SourceError(stalled, { isPassing: true }));
    }
    received = 0;
  }, times.stallTimeoutMs);
  const write = async (bytes: Buffer) => {
    received += bytes.length;
    // What comes beyond the file's size is left unread; whether the bytes are right, the checksum tells.
    await part.append(bytes.subarray(0, part.totalBytes - part.doneBytes));
  };
  try {
    await receive(answer, write, () => part.isComplete);
  } finally {
    clearInterval(watch);
  }
}
