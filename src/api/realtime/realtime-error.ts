/** What an `error` event tells. */
export interface RealtimeErrorDetails {
  /** Stable, for machines: as OpenAI's clients know it where they know one. */
  readonly code?: string;
  /** The field that is wrong. */
  readonly param?: string;
  readonly type?: "invalid_request_error" | "server_error" | "rate_limit_error";
}

/** A client's event that cannot be carried out. The session goes on. */
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

/** An error as its event tells it: what is unknown is left out, since agents-realtime takes no `null`. */
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
