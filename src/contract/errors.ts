/** Kinds of failure on the wire: stable, machine-matchable (specification, section 7). */
export type ErrorType =
  | "invalid_request"
  | "authentication_error"
  | "not_found"
  | "method_not_allowed"
  | "rate_limit_exceeded"
  | "internal_error"
  | "inference_error";

/** The statuses the contract knows, each with its one error type. */
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

/** What a failure adds to its envelope. */
export interface ErrorDetails {
  /** When trying again may help: the wait, in milliseconds. Required by 429 and 502. */
  readonly retryAfterMs?: number;
  /** Methods the path does allow (405). */
  readonly allow?: readonly string[];
  /** The field of the request that is wrong, as OpenAI's clients are told it. */
  readonly param?: string | null;
  readonly cause?: unknown;
}

/**
 * A failure with a place in the contract's table. Thrown where the fact is known; turned into an envelope in one
 * place. The message says what was wrong, where (`conversation[3].audio_wav_b64`), and what to do.
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

/** Most code units of a client's own word that a message repeats. */
const MAX_CHARS = 64;

/** What cannot be seen, or changes how its neighbours are seen: controls, formats such as bidi overrides, separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A name as any field might have it, which needs no quotes. */
const PLAIN = new RegExp(`^[A-Za-z_][\\w.[\\]-]{0,${MAX_CHARS - 1}}$`);

/** A client's own word in quotes, cut short where it is long; what is not to be seen is escaped. */
export function quoted(word: string): string {
  return JSON.stringify(cut(word)).replace(UNSEEN, escaped);
}

/** The name of a field as messages call it: as it is where that is plain, or else quoted, since it is the client's own. */
export function fieldLabel(name: string): string {
  return PLAIN.test(name) ? name : quoted(name);
}

function cut(word: string): string {
  if (word.length <= MAX_CHARS) return word;
  // Not between the halves of one character.
  const end = /[\uD800-\uDBFF]/.test(word.charAt(MAX_CHARS - 1)) ? MAX_CHARS - 1 : MAX_CHARS;
  return `${word.slice(0, end)}…`;
}

/** As JSON escapes it. */
function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
