export interface RealtimeErrorDetails {
  /** OpenAI's code where there is one. */
  readonly code?: string;
  readonly param?: string;
  readonly type?: "invalid_request_error" | "server_error" | "rate_limit_error";
}

/** A client event that cannot be carried out. The session continues. */
export class RealtimeError extends Error {
  override readonly name = "RealtimeError";
  readonly code: string | null;
  readonly param: string | null;
  readonly type: "invalid_request_error" | "server_error" | "rate_limit_error";

  constructor(message: string, { code, param, type = "invalid_request_error" }: RealtimeErrorDetails = {}) {
    super(message);
    this.code = code ?? null;
    this.param = param ?? null;
    this.type = type;
  }
}

/** Returns the `error` event's payload. Unknown fields are omitted, since agents-realtime rejects `null`. */
export function errorPayload(error: RealtimeError, eventId?: string): Record<string, unknown> {
  const { type, code, param, message } = error;
  return {
    type,
    message,
    ...(code === null ? {} : { code }),
    ...(param === null ? {} : { param }),
    ...(eventId === undefined ? {} : { event_id: eventId }),
  };
}
