import { retryAfterMs } from "../../core/retry-after.ts";
import type { ResponseHead } from "./http-exchange.ts";

/**
 * A failed attempt at a request. The message follows "HOST " in the log, and quotes nothing that the endpoint sent.
 */
export class AttemptError extends Error {
  override readonly name = "AttemptError";
  /** Whether the same request may succeed elsewhere or later. */
  readonly isTransient: boolean;
  /** Delay that the endpoint asks for; `null` if none. */
  readonly waitMs: number | null;

  constructor(message: string, { isPassing = true, waitMs = null }: AttemptErrorOptions = {}) {
    super(message);
    this.isTransient = isPassing;
    this.waitMs = waitMs;
  }
}

/** Creates an error that a retry cannot fix: the request, the settings or the kind of server is wrong. */
export function permanentError(message: string): AttemptError {
  return new AttemptError(message, { isPassing: false });
}

interface AttemptErrorOptions {
  readonly isPassing?: boolean;
  readonly waitMs?: number | null;
}

/** Throws an {@link AttemptError} for any status but 200. */
export function checkStatus({ status, headers }: ResponseHead): void {
  if (status === 200) return;
  const known = PERMANENT_STATUSES[status];
  if (known !== undefined) throw permanentError(known);
  if (status < 300) throw permanentError(`answered with ${status} instead of 200`);
  if (status < 400) {
    throw permanentError(`redirects (${status}); redirects are not followed: set urls to the target`);
  }
  const waitMs = requestedWaitMs(headers);
  if (status === 429) throw new AttemptError("is busy, or its quota is used up (429)", { waitMs });
  if (status >= 500) throw new AttemptError(`failed (${status})`, { waitMs });
  throw permanentError(`refused the request (${status}): check model, voices and format`);
}

/** Converts an error of a request. @param hasBegun whether speech has begun */
export function toAttemptError(thrown: unknown, hasBegun: boolean): AttemptError {
  if (thrown instanceof AttemptError) return thrown;
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const shown = /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? ` (${code})` : "";
  if (code === "HPE_HEADER_OVERFLOW") return new AttemptError(`sent headers that are too long${shown}`);
  if (code.startsWith("HPE_")) return new AttemptError(`sent invalid HTTP${shown}`);
  if (hasBegun) return new AttemptError(`disconnected during speech${shown}`);
  if (["ECONNRESET", "EPIPE", ""].includes(code)) return new AttemptError(`closed the connection${shown}`);
  return new AttemptError(`cannot be reached${shown}: check that it runs, and urls`);
}

function requestedWaitMs(headers: ResponseHead["headers"]): number | null {
  const asked = new Headers();
  for (const name of ["retry-after", "retry-after-ms"]) {
    const value = headers[name];
    if (typeof value === "string") asked.set(name, value);
  }
  return retryAfterMs(asked, Date.now());
}

const PERMANENT_STATUSES: Readonly<Record<number, string>> = {
  401: "refused the key (401): check keyFile or keyEnv",
  403: "does not let this key use the model (403): check keyFile or keyEnv, and model",
  404: "has no such route or model (404): check urls, which usually end in /v1, and model",
};
