import type { ClientEvent } from "../contract/realtime/client-events.ts";
import type { ServerEvent } from "./wire.ts";

/** What a connection's messages are, where they are not the session's events themselves. */
export interface Dialect {
  /** What comes of a message; `null`: the client is done. @throws Error that says what is wrong with the message */
  read(message: string, nowMs: number): Translated | null;
  /** What comes of one of the session's events. */
  write(event: ServerEvent): Translated;
}

export interface Translated {
  /** Messages for the client, as text. */
  readonly messages: readonly string[];
  /** What the session is told. */
  readonly events: readonly Told[];
}

/** A client event: as a client sent it, to be read and checked, or as a dialect made it. */
export type Told = string | ClientEvent;

/** OpenAI's protocol, which the session's own events are. */
export function plainDialect(newId: (prefix: string) => string): Dialect {
  return {
    read: (message) => ({ messages: [], events: [message] }),
    write: (event) => ({ messages: [JSON.stringify({ event_id: newId("event_"), ...event })], events: [] }),
  };
}
