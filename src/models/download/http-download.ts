import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { megabytes } from "./disk.ts";
import type { PullTimes } from "./options.ts";
import type { PartFile } from "./part-file.ts";
import { codeOf, messageOf, PullError, SourceError } from "./pull-error.ts";

export type OnRetry = (problem: string, delayMs: number) => void;

export interface HttpSource {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Completes a part from an address, resuming at its end. Tries again as long as attempts make progress, and a few
 * times without.
 *
 * @throws SourceError if the source is given up; PullError if the disk fails; the signal's reason
 */
export async function fetchOverHttp(
  address: HttpSource,
  part: PartFile,
  times: PullTimes,
  signal: AbortSignal,
  onRetry: OnRetry,
): Promise<void> {
  let maxBytes = part.doneBytes;
  let failedAttempts = 0;
  let wasReached = false;
  while (!part.isComplete) {
    const failure = await attempt(address, part, times, signal);
    if (failure === null) return;
    wasReached ||= !(failure instanceof UnreachableError);
    failedAttempts = part.doneBytes - maxBytes >= times.stallBytes ? 0 : failedAttempts + 1;
    maxBytes = Math.max(maxBytes, part.doneBytes);
    const delayMs = delayBefore(failedAttempts, failure, times);
    if (delayMs === null || !(failure.isTransient || (wasReached && failure instanceof UnreachableError)))
      throw failure;
    onRetry(failure.message, delayMs);
    await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Returns the delay before the next attempt; `null` to give up. */
function delayBefore(fruitless: number, { retryAfterMs }: SourceError, times: PullTimes): number | null {
  if (fruitless > times.retryDelaysMs.length) return null;
  if (retryAfterMs !== null) return retryAfterMs > times.maxWaitMs ? null : retryAfterMs;
  return times.retryDelaysMs[Math.max(0, fruitless - 1)] ?? 0;
}

/** Makes one request; returns `null` if the part is complete. */
async function attempt(
  address: HttpSource,
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
    return part.isComplete ? null : new SourceError("its response ends too early", { isPassing: true });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SourceError) return error;
    if (error instanceof PullError) throw error;
    return new SourceError(brokenConnection(error), { isPassing: true, cause: error });
  }
}

async function readBody(answer: IncomingMessage, part: PartFile, times: PullTimes): Promise<void> {
  let received = 0;
  const stallTimer = setInterval(() => {
    if (received < times.stallBytes) {
      const stalled = `it sends less than ${times.stallBytes} bytes in ${times.stallTimeoutMs / 1_000} s`;
      answer.destroy(new SourceError(stalled, { isPassing: true }));
    }
    received = 0;
  }, times.stallTimeoutMs);
  const write = async (bytes: Buffer) => {
    received += bytes.length;
    // Bytes beyond the file's size are ignored; the digest decides.
    await part.append(bytes.subarray(0, part.totalBytes - part.doneBytes));
  };
  try {
    await receive(answer, write, () => part.isComplete);
  } finally {
    clearInterval(stallTimer);
  }
}

/**
 * Checks that the response continues where the part ends, or restarts the part if the server sends the whole file.
 *
 * @throws SourceError if the body is not what was requested
 */
async function prepareForBody(answer: IncomingMessage, part: PartFile): Promise<void> {
  switch (answer.statusCode) {
    case 200: {
      const length = answer.headers["content-length"];
      requireSize(length === undefined ? null : Number(length), part);
      return part.restart();
    }
    case 206:
      return continueAt(parseContentRange(answer), part);
    case 416:
      requireSize(parseContentRange(answer).total, part);
      return startAgain("it has no bytes after those that were downloaded", part);
    default:
      throw statusError(answer);
  }
}

interface Range {
  readonly start: number | null;
  readonly total: number | null;
}

async function continueAt({ start, total }: Range, part: PartFile): Promise<void> {
  requireSize(total, part);
  if (start !== part.doneBytes) await startAgain("it sends another range of the file than requested", part);
}

/** Restarts the part: the next attempt requests the whole file, which every server supports. */
async function startAgain(problem: string, part: PartFile): Promise<never> {
  const isPassing = part.doneBytes > 0;
  await part.restart();
  throw new SourceError(problem, { isPassing });
}

function requireSize(bytes: number | null, { totalBytes }: PartFile): void {
  if (bytes === null || bytes === totalBytes) return;
  throw new SourceError(`its file has ${formatBytes(bytes)} instead of ${formatBytes(totalBytes)}`);
}

function formatBytes(bytes: number): string {
  return bytes < 1e6 ? `${bytes} bytes` : `${megabytes(bytes)} (${bytes} bytes)`;
}

/** Parses `bytes 100-199/1000`, `bytes 100-199/*`, `bytes *\/1000`. */
function parseContentRange({ headers }: IncomingMessage): Range {
  const [, start, total] =
    /^bytes (?:(\d{1,15})-\d{1,15}|\*)\/(\d{1,15}|\*)$/.exec(headers["content-range"] ?? "") ?? [];
  return {
    start: start === undefined ? null : Number(start),
    total: total === undefined || total === "*" ? null : Number(total),
  };
}

/** Received bytes that may wait to be written before the response is paused. */
const MAX_PENDING_BYTES = 1 << 20;

/**
 * Writes a body in order until it ends or `isEnough`. If the connection breaks, everything received is written first:
 * iterating over the stream would drop what it buffers.
 *
 * @throws what the body or `write` throws
 */
async function receive(
  body: IncomingMessage,
  write: (bytes: Buffer) => Promise<void>,
  isEnough: () => boolean,
): Promise<void> {
  // It may have failed before a listener was attached, and does not report that again.
  if (body.destroyed) throw body.errored ?? new Error("aborted");
  let waitingBytes = 0;
  let writing = Promise.resolve();
  try {
    await new Promise<void>((resolve, reject) => {
      body.once("end", resolve).once("close", resolve).once("error", reject);
      body.on("data", (bytes: Buffer) => {
        waitingBytes += bytes.length;
        if (waitingBytes > MAX_PENDING_BYTES) body.pause();
        writing = writing.then(async () => {
          if (!isEnough()) await write(bytes);
          waitingBytes -= bytes.length;
          if (isEnough()) resolve();
          else if (body.isPaused() && waitingBytes <= MAX_PENDING_BYTES) body.resume();
        });
        writing.catch(reject);
      });
    });
  } finally {
    body.removeAllListeners("data").pause();
    await writing.catch(() => {});
  }
  await writing;
}

const MAX_REDIRECTS = 10;

const REDIRECTS = [301, 302, 303, 307, 308];

/** The server was never reached, so an immediate retry is pointless. */
class UnreachableError extends SourceError {}

/**
 * Requests an address and follows redirects. The caller reads or destroys the body. HTTPS only, except on the
 * loopback interface. `authorization` is not sent to other origins.
 *
 * @throws SourceError if no response arrives in time or a redirect is invalid; the signal's reason
 */
export async function openUrl(
  address: string,
  headers: Readonly<Record<string, string>>,
  times: PullTimes,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let url = allowedUrl(address, null);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await sendRequest(
      url,
      redirects === 0 ? headers : headersFor(url, address, headers),
      times,
      signal,
    );
    if (!REDIRECTS.includes(answer.statusCode ?? 0)) return answer;
    answer.destroy();
    const { location } = answer.headers;
    if (location === undefined) throw new SourceError("it redirects without a Location header");
    url = allowedUrl(location, url);
  }
  throw new SourceError(`it redirects more than ${MAX_REDIRECTS} times`);
}

function headersFor(url: URL, address: string, headers: Readonly<Record<string, string>>) {
  if (url.origin === new URL(address).origin) return headers;
  const { authorization: _, ...others } = headers;
  return others;
}

function allowedUrl(address: string, base: URL | null): URL {
  if (!URL.canParse(address, base?.href)) {
    throw new SourceError(
      base === null ? "its address is not a URL" : "it redirects to something that is not a URL",
    );
  }
  const url = new URL(address, base?.href);
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return url;
  throw new SourceError(
    base === null
      ? `its address begins with ${url.protocol}//, but only https:// is allowed`
      : `it redirects to ${url.protocol}//${url.host}, but only https:// is allowed`,
  );
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function sendRequest(
  url: URL,
  headers: Readonly<Record<string, string>>,
  times: PullTimes,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const isSecure = url.protocol === "https:";
    const seconds = (ms: number) => `${ms / 1_000} s`;
    let isConnected = false;
    // No shared agent: one request needs no connection that outlives it.
    const request = (isSecure ? requestHttps : requestHttp)(url, { agent: false, headers, signal });
    let timer = setTimeout(() => {
      request.destroy(new UnreachableError(`it cannot be reached within ${seconds(times.connectTimeoutMs)}`));
    }, times.connectTimeoutMs);
    request.once("socket", (socket) => {
      socket.once(isSecure ? "secureConnect" : "connect", () => {
        isConnected = true;
        clearTimeout(timer);
        timer = setTimeout(() => {
          const late = `it does not answer within ${seconds(times.stallTimeoutMs)}`;
          request.destroy(new SourceError(late, { isPassing: true }));
        }, times.stallTimeoutMs);
      });
    });
    request.once("response", (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    // Never removed: later errors reach the reader of the body.
    request.on("error", (error) => {
      clearTimeout(timer);
      if (signal.aborted) reject(signal.reason);
      else if (error instanceof SourceError) reject(error);
      else if (isConnected)
        reject(new SourceError(brokenConnection(error), { isPassing: true, cause: error }));
      else reject(new UnreachableError(`it cannot be reached (${errorReason(error)})`, { cause: error }));
    });
    request.end();
  });
}

function brokenConnection(error: unknown): string {
  return `the connection broke off (${errorReason(error)})`;
}

/** A failure to connect to all addresses of a host has no message of its own, only causes. */
function errorReason(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return codeOf(error) ?? codeOf(first) ?? messageOf(first);
}

/** Creates the error for a useless response; `remedy` ends the sentence. */
export function statusError({ statusCode = 0, headers }: IncomingMessage, remedy = ""): SourceError {
  const isPassing = statusCode >= 500 || [408, 425, 429].includes(statusCode);
  const retryAfterMs = isPassing ? parseRetryAfter(headers["retry-after"]) : null;
  return new SourceError(`it answers with status ${statusCode}${remedy}`, {
    isPassing,
    status: statusCode,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

/** Parses `Retry-After`: seconds or a date (RFC 9110, 10.2.3). */
function parseRetryAfter(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - Date.now());
}
