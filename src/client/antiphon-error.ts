/** What the server calls a failure, and what the client does where the server could not. */
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
  /** No byte came for as long as `timeoutMs`. */
  | "timeout_error"
  /** An answer that is none of this API's. */
  | "invalid_response";

/** What is known of a failure. */
export interface AntiphonErrorDetails {
  readonly status?: number;
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

/** A call that failed. Calls that are aborted throw their signal's reason instead. */
export class AntiphonError extends Error {
  override readonly name: string = "AntiphonError";
  /** Stable, to tell failures apart by. */
  readonly type: AntiphonErrorType;
  /** The HTTP status, or null where none came. 200 where a reply broke off. */
  readonly status: number | null;
  /** To be named when asking whoever runs the server. */
  readonly requestId: string | null;
  /** When trying again may help, in milliseconds, where the server said so. */
  readonly retryAfterMs: number | null;

  constructor(type: AntiphonErrorType, message: string, details: AntiphonErrorDetails = {}) {
    super(message, details);
    this.type = type;
    // Where a browser tells none, it is 0.
    this.status = details.status || null;
    this.requestId = details.requestId ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }
}
