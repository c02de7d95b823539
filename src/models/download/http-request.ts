import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { PullTimes } from "./options.ts";
import { codeOf, messageOf, SourceError } from "./pull-error.ts";

const MAX_REDIRECTS = 10;

const REDIRECTS = [301, 302, 303, 307, 308];

/** The server was never reached: asking again at once is of no use. */
export class UnreachableError extends SourceError {}

/**
 * Asks for what is at an address, and follows redirects. The answer's body is yet to be read; destroy it when done.
 * Only HTTPS is spoken, but for this machine itself, where nobody listens in. An `authorization` goes to the address that
 * was asked for, and not along to where that redirects to.
 *
 * @throws SourceError when there is no answer within the times, or a redirect leads nowhere; the signal's reason.
 */
export async function openUrl(
  address: string,
  headers: Readonly<Record<string, string>>,
  times: PullTimes,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let url = checked(address, null);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await ask(url, redirects === 0 ? headers : onlyFor(url, address, headers), times, signal);
    if (!REDIRECTS.includes(answer.statusCode ?? 0)) return answer;
    answer.destroy();
    const { location } = answer.headers;
    if (location === undefined) throw new SourceError("it redirects without saying where to");
    url = checked(location, url);
  }
  throw new SourceError(`it redirects more than ${MAX_REDIRECTS} times`);
}

/** The headers for a host that another one has sent us to. */
function onlyFor(url: URL, address: string, headers: Readonly<Record<string, string>>) {
  if (url.origin === new URL(address).origin) return headers;
  const { authorization: _, ...others } = headers;
  return others;
}

function checked(address: string, base: URL | null): URL {
  if (!URL.canParse(address, base?.href)) {
    throw new SourceError(
      base === null ? "its address is not a URL" : "it redirects to something that is not a URL",
    );
  }
  const url = new URL(address, base?.href);
  if (url.protocol === "https:" || (url.protocol === "http:" && isThisMachine(url.hostname))) return url;
  throw new SourceError(
    base === null
      ? `its address begins with ${url.protocol}//, and only https:// is asked`
      : `it redirects to ${url.protocol}//${url.host}, and only https:// is followed`,
  );
}

function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function ask(
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
    // No shared agent: what is asked once needs no connection that outlives the answer.
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
    // For good: errors that come after the answer reach whoever reads its body.
    request.on("error", (error) => {
      clearTimeout(timer);
      if (signal.aborted) reject(signal.reason);
      else if (error instanceof SourceError) reject(error);
      else if (isConnected) reject(new SourceError(brokenOff(error), { isPassing: true, cause: error }));
      else reject(new UnreachableError(`it cannot be reached (${why(error)})`, { cause: error }));
    });
    request.end();
  });
}

/** What is said of a connection that ended in the middle. */
export function brokenOff(error: unknown): string {
  return `the connection broke off (${why(error)})`;
}

/** A failure to connect to every address of a host has the causes inside, and no message of its own. */
function why(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return codeOf(error) ?? codeOf(first) ?? messageOf(first);
}

/** An answer that has nothing of use; the remedy ends the sentence. */
export function refusal({ statusCode = 0, headers }: IncomingMessage, remedy = ""): SourceError {
  const isPassing = statusCode >= 500 || [408, 425, 429].includes(statusCode);
  const retryAfterMs = isPassing ? waitOf(headers["retry-after"]) : null;
  return new SourceError(`it answers with status ${statusCode}${remedy}`, {
    isPassing,
    status: statusCode,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

/** `Retry-After`: seconds or a date (RFC 9110, 10.2.3). */
function waitOf(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - Date.now());
}
