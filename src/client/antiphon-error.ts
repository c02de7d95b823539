/** The server's error types, and those of the client for failures without an answer. */
export type AntiphonErrorType =
  | "invalid_request"
  | "authentication_error"
  | "not_found"
  | "method_not_allowed"
  | "rate_limit_exceeded"
  | "internal_error"
  | "inference_error"
  /** The server could not be reached, or the connection broke off. */
  | "connection_error"
  /** No byte arrived within `timeoutMs`. */
  | "timeout_error"
  /** The answer is not one of this API's. */
  | "invalid_response";

export interface AntiphonErrorDetails {
  readonly status?: number;
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

/** A failed call. An aborted call throws its signal's reason instead. */
export class AntiphonError extends Error {
  override readonly name: string = "AntiphonError";
  /** Stable identifier of the kind of failure. */
  readonly type: AntiphonErrorType;
  /** The HTTP status; null without an answer, 200 if a reply broke off. */
  readonly status: number | null;
  /** Id to quote to the server's operator. */
  readonly requestId: string | null;
  /** Milliseconds after which the server suggests a retry. */
  readonly retryAfterMs: number | null;

  constructor(type: AntiphonErrorType, message: string, details: AntiphonErrorDetails = {}) {
    super(message, details);
    this.type = type;
    // Browsers report 0 for an unknown status.
    this.status = details.status || null;
    this.requestId = details.requestId ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }
}
