import type { InboundEvent } from "../../contract/realtime/client-events.ts";

/** An event for the client, to which its transport adds an id. */
export type ServerEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Sends an event of this type to the client. */
export type SendEvent = (type: string, fields?: Readonly<Record<string, unknown>>) => void;

/** What a connection's messages are, where they are not the session's events themselves. */
export interface RealtimeDialect {
  /** Returns what comes of a message; `null`: the client is done. @throws Error that says what is wrong with the message */
  read(message: Uint8Array, nowMs: number): DialectOutput | null | Promise<DialectOutput>;
  /** Returns what comes of one of the session's events. */
  write(event: ServerEvent): DialectOutput;
}

export interface DialectOutput {
  /** Messages for the client, as text. */
  readonly messages: readonly string[];
  /** Events for the session. */
  readonly events: readonly InboundEvent[];
}

/** OpenAI's protocol, which the session's own events are. */
export function openAiDialect(
  newId: (prefix: string) => string,
  readEvent: (message: Uint8Array) => Promise<InboundEvent>,
): RealtimeDialect {
  return {
    read: async (message) => ({ messages: [], events: [await readEvent(message)] }),
    write: (event) => ({ messages: [JSON.stringify({ event_id: newId("event_"), ...event })], events: [] }),
  };
}
