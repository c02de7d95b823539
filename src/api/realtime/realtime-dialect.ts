import type { InboundEvent } from "../../contract/realtime/client-events.ts";

/** An event for the client. Its transport adds an `event_id`. */
export type ServerEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export type SendEvent = (type: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Translates between a connection's messages and a session's events. */
export interface RealtimeDialect {
  /** Translates a message; `null`: the client is done. @throws Error that says what is wrong with the message */
  read(message: Uint8Array, nowMs: number): DialectOutput | null | Promise<DialectOutput>;
  write(event: ServerEvent): DialectOutput;
}

export interface DialectOutput {
  readonly messages: readonly string[];
  readonly events: readonly InboundEvent[];
}

/** Creates the dialect of OpenAI's protocol. Its events are the session's own, so nothing is translated. */
export function openAiDialect(
  newId: (prefix: string) => string,
  readEvent: (message: Uint8Array) => Promise<InboundEvent>,
): RealtimeDialect {
  return {
    read: async (message) => ({ messages: [], events: [await readEvent(message)] }),
    write: (event) => ({ messages: [JSON.stringify({ event_id: newId("event_"), ...event })], events: [] }),
  };
}
