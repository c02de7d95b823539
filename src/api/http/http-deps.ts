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

/** The body of `GET /v1/info`. */
export interface ServiceInfo {
  readonly backend: { readonly name: string; readonly kind: string; readonly sample_rate: number };
  readonly defaults: ResolvedParams;
  readonly limits: Limits;
  readonly param_schema: readonly ParamKnob[];
}

export interface HttpOptions {
  /** Milliseconds of silence on a stream after which a comment keeps the connection alive. */
  readonly heartbeatMs: number;
  /** Milliseconds after which a client is cut that neither reads output nor sends its announced body. */
  readonly stallTimeoutMs: number;
  /** Milliseconds that a stream's status waits for its first frame. */
  readonly streamPatienceMs: number;
  /** Maximum milliseconds for a reply in one piece. */
  readonly collectTimeoutMs: number;
  /** Maximum milliseconds for a request's headers, and for the whole request. */
  readonly headersTimeoutMs: number;
  readonly uploadTimeoutMs: number;
  readonly bodyLimitBytes: number;
  /** Which proxies may state the client's address, as Fastify takes it. */
  readonly trustProxy: boolean | string | string[];
  readonly serveMetrics: boolean;
  /** Lists that need no key: those below `/v1/audio/`, also the models, or none. */
  readonly keylessLists: "audio" | "all" | "none";
  /** Origins whose pages may call; `*` allows all. */
  readonly corsOrigins: "*" | readonly string[];
  /** In PEM, for HTTPS; the separate server of `/metrics` always speaks HTTP. `null`: HTTP. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  /** Folders of the page at `/`; `null`: none. */
  readonly playground: PlaygroundDirs | null;
}

export interface HttpDeps extends RequestDeps {
  /** Memory of whole replies, until their clients have read them. */
  readonly replies: KeyedSemaphore;
  readonly cards: () => ModelEntry[];
  readonly customVoices: CustomVoices;
  readonly newVoices: VoiceCreator;
  readonly info: ServiceInfo;
  /** False if the server is stopping or cannot speak. */
  readonly isReady: () => boolean;
  /** True once the server is stopping: connections then close after their response. */
  readonly isStopping: () => boolean;
  readonly options: HttpOptions;
  /** `null`: no realtime sessions. */
  readonly realtime: RealtimeOptions | null;
}

export interface RealtimeOptions extends Omit<RealtimeDeps, "service" | "onFirstAudio" | "onFailure"> {
  /** Concurrent sessions, in total and per key. */
  readonly maxSessions: number;
  readonly maxSessionsPerKey: number;
  /** Milliseconds without a message after which a session is closed. */
  readonly idleTimeoutMs: number;
  readonly maxSessionS: number;
  readonly secrets: ClientSecrets;
  /** Memory of bodies and messages that are being received. */
  readonly receiving: KeyedSemaphore;
  /** Auth tokens that sign telephone streams; if empty, signatures are not checked. */
  readonly twilioAuthTokens: readonly string[];
}

export interface SessionOpening {
  readonly apiKey: string;
  readonly settings: SessionSettings;
  readonly model: string | null;
  readonly dialect: RealtimeDialect;
}
