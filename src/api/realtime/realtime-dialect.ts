import type { ServiceError } from "../../contract/errors.ts";
import type { InboundEvent } from "../../contract/realtime/client-events.ts";
import type { RequestContext } from "../../requests/request-context.ts";

/** An event for the client. Its transport adds an `event_id`. */
export type ServerEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export type SendEvent = (type: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Translates between a connection's messages and a session's events. */
export interface RealtimeDialect<E = InboundEvent> {
  /** Translates a message; `null`: the client is done. @throws Error that says what is wrong with the message */
  read(message: Uint8Array, nowMs: number): DialectOutput<E> | null | Promise<DialectOutput<E>>;
  write(event: ServerEvent): DialectOutput<E>;
}

export interface DialectOutput<E = InboundEvent> {
  readonly messages: readonly string[];
  readonly events: readonly E[];
}

/** A response, a transcribed turn without one, or a text to speak. */
export type SessionRequest = "response" | "transcription" | "speech";

export interface SessionConnection {
  readonly keyId: string;
  /** Begins a request of its own, which takes a token of the key. Throws a {@link ServiceError} if it is refused. */
  readonly begin: (what: SessionRequest, signal: AbortSignal) => Promise<RequestContext>;
  readonly send: (event: ServerEvent) => void;
  readonly hasRoom: () => Promise<void>;
  /** Returns whether input is queued, so that missing audio is not silence. */
  readonly isBehind: () => boolean;
  /** Closes the connection: with the error's status, or normally without one. */
  readonly close: (error?: ServiceError) => void;
  readonly signal: AbortSignal;
}

/** A session of any protocol. */
export interface SessionHandler<E> {
  /** Whether it works for a silent client, and so is not idle. Default: false. */
  readonly isBusy?: boolean;
  begin(): void;
  /** Handles one client event. Called sequentially; resolves when there is room for the next. */
  receive(event: E): Promise<void>;
  whenIdle(): Promise<void>;
  end(): void;
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
