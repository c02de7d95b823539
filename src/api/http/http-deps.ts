import type { Limits } from "../../contract/limits.ts";
import type { ParamKnob, ResolvedParams } from "../../contract/params.ts";
import type { ModelEntry } from "../../contract/replies.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import type { RequestDeps } from "../../requests/begin-request.ts";
import type { VoiceCreator } from "../../serving/voices/create-voice.ts";
import type { CustomVoices } from "../../serving/voices/custom-voices.ts";
import type { ClientSecrets } from "../realtime/client-secrets.ts";
import type { RealtimeDialect } from "../realtime/realtime-dialect.ts";
import type { RealtimeDeps } from "../realtime/session-runner.ts";
import type { SessionSettings } from "../realtime/session-settings.ts";
import type { PlaygroundDirs } from "./routes/pages.ts";

/** What the service says of itself at `GET /v1/info`. */
export interface ServiceInfo {
  readonly backend: { readonly name: string; readonly kind: string; readonly sample_rate: number };
  readonly defaults: ResolvedParams;
  readonly limits: Limits;
  readonly param_schema: readonly ParamKnob[];
}

export interface HttpOptions {
  /** Quiet time on a stream after which a comment keeps the connection alive, in milliseconds. */
  readonly heartbeatMs: number;
  /** Longest that a client may move no byte although there is one to move, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** How long a stream's status waits for its first frame, in milliseconds. */
  readonly streamPatienceMs: number;
  /** Longest that a reply in one piece may take, in milliseconds. */
  readonly collectTimeoutMs: number;
  /** Longest that a client may take over its headers, and over its whole request, in milliseconds. */
  readonly headersTimeoutMs: number;
  readonly uploadTimeoutMs: number;
  readonly bodyLimitBytes: number;
  /** As Fastify takes it: which proxies may name the client's address. */
  readonly trustProxy: boolean | string | string[];
  readonly serveMetrics: boolean;
  /** Which lists answer without a key: what can be spoken by `/v1/audio/…`, also the models, or none. */
  readonly keylessLists: "audio" | "all" | "none";
  /** Whose pages may call: `*` is everybody's. */
  readonly corsOrigins: "*" | readonly string[];
  /** In PEM: HTTPS is served by it, and `/metrics` alone is not; `null`: HTTP. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  /** The folders of the page at `/`, or null for none. */
  readonly playground: PlaygroundDirs | null;
}

/** All that the HTTP side is given; it builds nothing itself. */
export interface HttpDeps extends RequestDeps {
  /** Bytes of whole replies that are being made, or wait for their readers. */
  readonly replies: KeyedSemaphore;
  readonly cards: () => ModelEntry[];
  readonly customVoices: CustomVoices;
  readonly newVoices: VoiceCreator;
  readonly info: ServiceInfo;
  /** False once the server is stopping, or has nothing left that can speak. */
  readonly isReady: () => boolean;
  /** True once the server was told to stop: no connection is kept for further requests then. */
  readonly isStopping: () => boolean;
  readonly options: HttpOptions;
  /** How realtime sessions are served; `null`: there are none. */
  readonly realtime: RealtimeOptions | null;
}

/** How realtime sessions are served. */
export interface RealtimeOptions extends Omit<RealtimeDeps, "service" | "onFirstAudio" | "onFailure"> {
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
  readonly dialect: RealtimeDialect;
}
