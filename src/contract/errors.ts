/** Error types on the wire (specification, section 7). */
export type ErrorType =
  | "invalid_request"
  | "authentication_error"
  | "not_found"
  | "method_not_allowed"
  | "rate_limit_exceeded"
  | "internal_error"
  | "inference_error";

/** Statuses of the contract, each with its error type. */
export const ERROR_TYPES = {
  400: "invalid_request",
  401: "authentication_error",
  404: "not_found",
  405: "method_not_allowed",
  422: "invalid_request",
  429: "rate_limit_exceeded",
  500: "internal_error",
  502: "inference_error",
} as const satisfies Record<number, ErrorType>;

export type ErrorStatus = keyof typeof ERROR_TYPES;

export interface ErrorDetails {
  /** Milliseconds after which a retry may help. Required for 429 and 502. */
  readonly retryAfterMs?: number;
  /** Methods that the path supports (405). */
  readonly allow?: readonly string[];
  /** The invalid field, for OpenAI's clients. */
  readonly param?: string | null;
  readonly cause?: unknown;
}

/**
 * An error of the contract. Thrown where the fact is known, converted to an envelope in one place. The message says
 * what is wrong, where (`conversation[3].audio_wav_b64`), and what to do.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: ErrorStatus;
  readonly retryAfterMs: number | null;
  readonly allow: readonly string[];
  readonly param: string | null;

  constructor(status: ErrorStatus, message: string, details: ErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.status = status;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.allow = details.allow ?? [];
    this.param = details.param ?? null;
  }

  get type(): ErrorType {
    return ERROR_TYPES[this.status];
  }
}

/** Returns the error for a field; its message begins with the field's name. */
export function fieldError(field: string, problem: string, status: ErrorStatus = 400): ServiceError {
  return new ServiceError(status, `${field} ${problem}`, { param: field });
}

/** Maximum code units of a client's text that a message repeats. */
const MAX_CHARS = 64;

/**
 * Invisible characters, and those that change how others are shown: controls, formats such as bidi overrides,
 * separators.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A name that needs no quotes. */
const PLAIN = new RegExp(`^[A-Za-z_][\\w.[\\]-]{0,${MAX_CHARS - 1}}$`);

/** Quotes a client's text for a message: long text is cut, invisible characters are escaped. */
export function quoted(word: string): string {
  return JSON.stringify(cut(word)).replace(UNSEEN, escaped);
}

/** Returns a field's name for messages, quoted unless it is plain, since it is the client's. */
export function fieldLabel(name: string): string {
  return PLAIN.test(name) ? name : quoted(name);
}

function cut(word: string): string {
  if (word.length <= MAX_CHARS) return word;
  // Does not split a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(word.charAt(MAX_CHARS - 1)) ? MAX_CHARS - 1 : MAX_CHARS;
  return `${word.slice(0, end)}…`;
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
