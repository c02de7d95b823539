import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import type { ClientSecrets } from "../realtime/client-secrets.ts";
import type { Dialect } from "../realtime/realtime-dialect.ts";
import type { RealtimeDeps } from "../realtime/session-runner.ts";
import type { SessionSettings } from "../realtime/session-settings.ts";

/** How realtime sessions are served. */
export interface RealtimeOptions extends Omit<RealtimeDeps, "service" | "onAnswer" | "onFailure"> {
  /** Sessions at a time, in all and of one key. */
  readonly maxSessions: number;
  readonly maxSessionsPerKey: number;
  /** A session in which the client has sent nothing for so long is closed, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** No session lasts longer, in seconds. */
  readonly maxSessionS: number;
  readonly secrets: ClientSecrets;
  /** Bytes of bodies and messages that are being received. */
  readonly receiving: KeyedSemaphore;
  /** Tokens that telephone streams are signed with; if empty, signatures are not checked. */
  readonly twilioAuthTokens: readonly string[];
}

/** Who a connection's session is for, and what it begins with. */
export interface SessionOpening {
  readonly apiKey: string;
  readonly settings: SessionSettings;
  readonly model: string | null;
  readonly dialect: Dialect;
}
