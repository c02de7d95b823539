import Type, { type Static } from "typebox";
import {
  delay,
  HOST_AND_PORT,
  HTTP_ADDRESS,
  MAX_MS,
  memory,
  port,
  rate,
  requests,
  text,
  timeout,
  turns,
  utterances,
} from "./bounds.ts";
import { Checkpoints, Models, Voices } from "./model-settings.ts";

/** pino's log levels. */
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** An IP address or network, or one of the groups that Fastify's `trustProxy` knows. */
const ADDRESS_OR_NETWORK =
  "^([0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*(/[0-9]{1,3})?|loopback|linklocal|uniquelocal)$";

/** An `Origin` as browsers send it, in ASCII: scheme and host in lower case, and a port if it is not the default. */
const ORIGIN = "^(?!https:.*:443$|http:.*:80$)[a-z][a-z0-9+.-]*://[^/\\s,?#@*A-Z\\x80-\\uffff]+$";

/**
 * Every setting: type, range, default, unit and meaning. The source of the settings file, the environment, the flags,
 * the static type and docs/settings.md.
 */
export const SettingsSchema = Type.Object({
  host: Type.String({ minLength: 1, default: "127.0.0.1", description: "Address to listen on." }),
  port: Type.Integer({ ...port, default: 8080, description: "Port to listen on; 0 picks a free one." }),
  dataDir: Type.String({
    minLength: 1,
    description:
      "Folder for keys, usage and downloaded models. A relative path in the settings file is relative to that file's folder.",
  }),
  pull: Type.Boolean({ default: true, description: "Whether missing weights are downloaded at start." }),
  lexicon: text(
    "A file with pronunciations that take precedence over the dictionary's: on each line a word, a tab, and `/phonemes/` or a respelling. A relative path in the settings file is relative to that file's folder.",
  ),
  workers: Type.Integer({
    minimum: 0,
    maximum: 64,
    default: 0,
    unit: "threads",
    description: "Threads that run the embedded voice; 0 means one per core, at most 64.",
  }),
  voicePrecision: Type.Enum(["int8", "fp32"], {
    default: "int8",
    description:
      "Precision in which the embedded voice computes: in 8 bits (int8), or unrounded (fp32), which sounds the same and takes nearly twice the processor time.",
  }),
  concurrency: Type.Integer({
    ...utterances,
    default: 0,
    description: "Utterances spoken at once; 0 means 32 per worker.",
  }),
  keyConcurrency: Type.Integer({
    ...utterances,
    default: 0,
    description:
      "Utterances that one key may have open at once; 0 means as many as the server can speak at once. Either way, slots are assigned round-robin across waiting keys.",
  }),
  queueDepth: Type.Integer({
    ...requests,
    default: 128,
    description:
      "Requests that may wait to be spoken; the same number may wait for memory, and the same number for the writer. Further requests are refused with 502.",
  }),
  keyQueueDepth: Type.Integer({
    ...requests,
    default: 64,
    description: "The same for the requests of one key; further ones are refused with 429.",
  }),
  queueWaitMs: Type.Integer({
    ...delay,
    default: 10_000,
    description: "How long a request may wait in a queue before it is refused. Each queue counts separately.",
  }),
  generationTimeoutMs: Type.Integer({
    ...timeout,
    default: 30_000,
    description:
      "How long the engine may take to compute the next frame of an utterance. Time in which the client leaves frames unread does not count.",
  }),
  maxAheadS: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    default: 30,
    unit: "s",
    description:
      "How far ahead of real-time playback the speech of a stream is computed and metered; 0 means no limit. Whole replies, and files that were not requested as streams, are sent as fast as they are computed.",
  }),
  requestTimeoutMs: Type.Integer({
    ...timeout,
    default: 300_000,
    description: "How long a whole reply may take. Streams have no time limit while they are being read.",
  }),
  loadTimeoutMs: Type.Integer({
    ...timeout,
    default: 300_000,
    description: "How long a model may take to load, and a writer to finish its first sentence.",
  }),
  stallTimeoutMs: Type.Integer({
    ...timeout,
    default: 300_000,
    description:
      "How long a connection may stall: the client neither reads any of the data that is ready for it nor sends any of the body that it announced. Operating systems buffer several megabytes, so the server sees progress only now and then; below 30 s, real-time listeners may be cut off.",
  }),
  headersTimeoutMs: Type.Integer({
    ...timeout,
    default: 15_000,
    description: "How long a client may take to send the headers of a request.",
  }),
  uploadTimeoutMs: Type.Integer({
    ...timeout,
    default: 300_000,
    description: "How long a client may take to send a whole request.",
  }),
  heartbeatMs: Type.Integer({
    ...timeout,
    default: 15_000,
    description:
      "After this long without data, a comment line is sent to keep the connection of a stream alive. Realtime sessions are pinged at this interval, and disconnected when two pings in a row are not answered.",
  }),
  drainDelayMs: Type.Integer({
    ...delay,
    default: 0,
    description:
      "How long a stopping server still accepts requests while /ready fails, so that a load balancer can switch to other servers first. A second signal skips the rest of this delay.",
  }),
  shutdownGraceMs: Type.Integer({
    ...delay,
    default: 10_000,
    description:
      "How long a server that is stopping lets utterances finish before it cuts them off; this starts after drainDelayMs.",
  }),
  bodyLimitBytes: Type.Integer({
    minimum: 1024,
    maximum: 2_147_483_647,
    default: 134_217_728,
    unit: "bytes",
    description:
      "Largest request body. 128 MiB holds three turns with the maximum of audio (25 MiB each), in base64.",
  }),
  receivingBudgetMb: Type.Integer({
    ...memory,
    default: 136,
    description:
      "Memory for request bodies over 64 KiB while they arrive, except recordings to transcribe. A body that does not fit waits, unread; a single body of the largest permitted size always fits.",
  }),
  keyReceivingBudgetMb: Type.Integer({
    ...memory,
    default: 128,
    description: "The same for the bodies of one key.",
  }),
  audioBudgetMb: Type.Integer({
    ...memory,
    default: 128,
    description:
      "Memory for the decoded audio of conversations that are waiting or being spoken, and for recordings that an endpoint transcribes (64 kB per second). A request that does not fit waits.",
  }),
  keyAudioBudgetMb: Type.Integer({
    ...memory,
    default: 96,
    description: "The same for the requests of one key.",
  }),
  replyBudgetMb: Type.Integer({
    ...memory,
    default: 128,
    description:
      "Memory for whole replies, from before they are spoken until their clients have read them. A request that does not fit waits. A second of speech takes 48 kB.",
  }),
  keyReplyBudgetMb: Type.Integer({
    ...memory,
    default: 96,
    description: "The same for the replies to one key.",
  }),
  memoryBudgetMb: Type.Integer({
    ...memory,
    minimum: 0,
    default: 0,
    description:
      "Memory for loaded models; when it is exceeded, the least recently used idle model is unloaded. 0 means 4096, or what the models need with this many workers, if that is more.",
  }),
  defaultKeyRpm: Type.Integer({
    ...rate,
    default: 600,
    unit: "requests a minute",
    description: "Sustained rate of keys that are created without one.",
  }),
  defaultKeyBurst: Type.Integer({
    ...rate,
    default: 60,
    unit: "requests",
    description: "Burst capacity of keys that are created without one.",
  }),
  anonymousRpm: Type.Integer({
    ...rate,
    default: 60,
    unit: "requests a minute",
    description: "Sustained rate of failed authentications allowed per address.",
  }),
  anonymousBurst: Type.Integer({
    ...rate,
    default: 60,
    unit: "requests",
    description: "Failed authentications allowed per address in a burst.",
  }),
  store: Type.Object({
    kind: Type.Optional(
      Type.Enum(["libsql", "postgres"], {
        description:
          "Where keys and usage are stored: in a file in dataDir (libsql), or in a PostgreSQL database that several servers may share. If not set: postgres if its address is given, otherwise libsql.",
      }),
    ),
    urlFile: text(
      "A file that contains only the address of the PostgreSQL database, such as postgres://user:password@host:5432/database?sslmode=verify-full. The environment variable ANTIPHON_STORE_URL takes precedence.",
    ),
    schema: Type.String({
      pattern: "^[a-z_][a-z0-9_]{0,62}$",
      default: "antiphon",
      takes: "1 to 63 small letters, digits and underscores, no digit first",
      description:
        "The schema in that database that contains Antiphon's tables; it is created if it does not exist.",
    }),
    connections: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 3,
      unit: "connections",
      description: "Connections to that database that this server may have open.",
    }),
    timeoutMs: Type.Integer({
      minimum: 100,
      maximum: 60_000,
      default: 2_000,
      unit: "ms",
      description:
        "How long connecting to that database, or one statement, may take, and how long a request waits for its key to be looked up before it is refused with 502.",
    }),
    commitTimeoutMs: Type.Integer({
      minimum: 100,
      maximum: 600_000,
      default: 10_000,
      unit: "ms",
      description: "How long committing usage to that database is retried before the request fails.",
    }),
    eventsKeptDays: Type.Integer({
      minimum: 1,
      maximum: 3_650,
      default: 3,
      unit: "days",
      description:
        "How long individual requests are kept in that database, so that one committed twice counts only once. Totals are kept forever.",
    }),
  }),
  tls: Type.Object({
    certFile: text(
      "A PEM file with a certificate, and those between it and its root: with it, HTTPS and `wss` are served in place of HTTP. Needs `tls.keyFile`.",
    ),
    keyFile: text("A PEM file with the key of that certificate."),
  }),
  realtime: Type.Object({
    enabled: Type.Boolean({
      default: true,
      description:
        "Whether spoken conversations are served: at `/v1/realtime`, and for telephone calls at `/v1/telephony/twilio`.",
    }),
    sessions: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 32,
      unit: "sessions",
      description: "Realtime sessions open at a time; one more is refused with 502.",
    }),
    sessionsPerKey: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 16,
      unit: "sessions",
      description: "The same for the sessions of one key; one more is refused with 429.",
    }),
    idleTimeoutMs: Type.Integer({
      minimum: 1_000,
      maximum: MAX_MS,
      default: 600_000,
      unit: "ms",
      description: "A realtime session whose client sends nothing for this long is closed.",
    }),
    maxSessionS: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 7_200,
      unit: "s",
      description: "The longest that a realtime session may last.",
    }),
  }),
  twilio: Type.Object({
    authTokenFile: text(
      "A file that contains only the auth token of your Twilio account. If it is set, telephone streams without a valid X-Twilio-Signature are refused. While you replace the token, put both there, separated by a comma. The environment variable ANTIPHON_TWILIO_AUTH_TOKEN takes precedence.",
    ),
  }),
  buckets: Type.Object({
    kind: Type.Enum(["memory", "valkey"], {
      default: "memory",
      description:
        "Where the token buckets of keys are kept: in this server alone, or on a Valkey server that several servers share, so that a key's rate limit applies to all of them together.",
    }),
    urlFile: text(
      "A file that contains only the address of the Valkey server, such as redis://user:password@host:6379/0, or rediss:// for TLS. The environment variable ANTIPHON_BUCKETS_URL takes precedence.",
    ),
    prefix: Type.String({
      pattern: "^[A-Za-z0-9._:-]{1,64}$",
      default: "antiphon",
      takes: "1 to 64 letters, digits, dots, colons, hyphens or underscores",
      description:
        "Prefix of the keys on the Valkey server. Servers with the same prefix share their buckets.",
    }),
    timeoutMs: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 50,
      unit: "ms",
      description:
        "How long the Valkey server may take to answer. After that, this server falls back to a local bucket with the same limits.",
    }),
  }),
  trustProxy: Type.Union(
    [Type.Boolean(), Type.Array(Type.String({ pattern: ADDRESS_OR_NETWORK }), { minItems: 1 })],
    {
      default: false,
      takes: "true, false or a list of IP addresses and networks",
      description:
        "Which proxies' X-Forwarded-For header is trusted for the client's address: none (false), all (true), or those at the listed addresses and networks.",
    },
  ),
  corsOrigins: Type.Union([Type.Literal("*"), Type.Array(Type.String({ pattern: ORIGIN }))], {
    default: [],
    takes: "* or a list of origins as browsers send them, such as https://app.example",
    description:
      "Which web pages, besides the server's own, may call the service from a browser: those of the listed origins, or all (*). Such a page contains an API key, so give it a separate one with a low rate.",
  }),
  keylessLists: Type.Enum(["audio", "all", "none"], {
    default: "audio",
    description:
      "Which lists can be read without a key, because some clients send none when they fetch them: /v1/audio/voices and /v1/audio/models (audio), also /v1/models (all), or none.",
  }),
  writer: Type.Object({
    kind: Type.Enum(["embedded", "chat", "gguf", "none"], {
      default: "embedded",
      description:
        "What writes the text of authored turns: the small talk that comes with Antiphon or a language model that you pulled (embedded), an OpenAI-compatible chat endpoint, a GGUF file of your own, or nothing.",
    }),
    checkpoint: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description:
          "The language model that writes if writer.kind is embedded: one that `antiphon models list` shows as installed. Without it, replies are small talk.",
      }),
    ),
    gate: Type.Optional(
      Type.Boolean({
        description:
          "Whether English turns that are dangerous or show distress get a fixed, careful reply, and the writer never sees them. Default: true for small talk, false for a language model of yours.",
      }),
    ),
    instructions: text(
      "Instructions for every reply by a chat endpoint, a GGUF file or a model from the hub, for example: You are Ann, at the desk of the Green Fork. A request's own instructions are added after these.",
    ),
    systemPrompt: text(
      "System prompt for a chat endpoint, a GGUF file or a model from the hub; the instructions are added after it. The default says that replies are heard, and that without a tool the model has no clock and cannot act.",
    ),
    concurrency: Type.Integer({
      ...turns,
      default: 64,
      description: "Turns written at once; further ones wait, as requests wait to be spoken.",
    }),
    keyConcurrency: Type.Integer({
      ...turns,
      default: 48,
      description: "Turns of one key written at once.",
    }),
    maxTokens: Type.Integer({
      minimum: 8,
      maximum: 4096,
      default: 160,
      unit: "tokens",
      description:
        "Maximum number of tokens that a chat endpoint, a GGUF file or a model from the hub may write for one reply.",
    }),
    contextTokens: Type.Integer({
      minimum: 256,
      maximum: 131_072,
      default: 2_048,
      unit: "tokens",
      description:
        "Context length of a GGUF file or a model from the hub: how much of a conversation it reads, including instructions. More takes more memory, and more time until the first sentence.",
    }),
    replies: Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 2,
      unit: "replies",
      description:
        "Replies that a GGUF file or a model from the hub writes at once; further ones wait. Each takes the memory of one context.",
    }),
    batchReplies: Type.Boolean({
      default: false,
      description:
        "Whether those replies are computed in one batch. This is faster when several are being written, but even at temperature 0 the text of one may then depend on the others.",
    }),
    threads: Type.Integer({
      minimum: 0,
      maximum: 256,
      default: 0,
      unit: "threads",
      description:
        "Threads used by a GGUF file or a model from the hub while no speech is being computed; 0 means all cores but one. Set fewer if other programs use the cores. While speech is being computed, the model uses one thread.",
    }),
    path: text(
      "The GGUF file, if writer.kind is gguf. A relative path in the settings file is relative to that file's folder.",
    ),
    baseUrl: Type.Optional(
      Type.String({
        pattern: HTTP_ADDRESS,
        description:
          "The chat endpoint's base address, such as http://127.0.0.1:11434/v1, if writer.kind is chat.",
      }),
    ),
    model: text("The model to request from the chat endpoint."),
    apiKeyFile: text(
      "A file that contains only the chat endpoint's API key. The environment variable ANTIPHON_WRITER_API_KEY takes precedence.",
    ),
    firstTokenTimeoutMs: Type.Integer({
      ...timeout,
      default: 10_000,
      description: "How long the chat endpoint may take to begin its reply.",
    }),
    totalTimeoutMs: Type.Integer({
      ...timeout,
      default: 60_000,
      description: "How long the chat endpoint may take to complete a reply.",
    }),
  }),
  recogniser: Type.Object({
    kind: Type.Enum(["embedded", "endpoint", "none"], {
      default: "embedded",
      description:
        "What transcribes recordings: the embedded Whisper, an OpenAI-compatible endpoint, or nothing.",
    }),
    use: Type.Enum(["writer", "always", "never"], {
      default: "writer",
      description:
        "When audio-only turns are transcribed: if a writer replies to them (writer); also if the text of the reply is given, so that it follows a clip's pace more closely (always); or never. Recordings sent for transcription are always transcribed.",
    }),
    checkpoint: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      default: "whisper-base",
      description:
        "The recogniser to use if recogniser.kind is embedded: one that `antiphon models list` shows.",
    }),
    baseUrl: Type.Optional(
      Type.String({
        pattern: HTTP_ADDRESS,
        description:
          "The endpoint's base address, such as http://127.0.0.1:8000/v1, if recogniser.kind is endpoint.",
      }),
    ),
    model: text("The model to request from the endpoint."),
    apiKeyFile: text(
      "A file that contains only the endpoint's API key. The environment variable ANTIPHON_RECOGNISER_API_KEY takes precedence.",
    ),
    totalTimeoutMs: Type.Integer({
      ...timeout,
      default: 60_000,
      description: "How long the endpoint may take to transcribe one recording.",
    }),
  }),
  models: Models,
  checkpoints: Checkpoints,
  voices: Voices,
  logLevel: Type.Enum(LOG_LEVELS, {
    default: "info",
    description: "Minimum severity of messages that are logged.",
  }),
  metrics: Type.Object({
    enabled: Type.Boolean({ default: true, description: "Whether /metrics is served." }),
    port: Type.Optional(
      Type.Integer({
        ...port,
        description: "Separate port for /metrics; if not set, /metrics is served on the main port.",
      }),
    ),
    host: Type.String({
      minLength: 1,
      default: "127.0.0.1",
      description: "Address for /metrics, if metrics.port is set.",
    }),
  }),
  wyoming: Type.Optional(
    Type.String({
      pattern: HOST_AND_PORT,
      description:
        "Address and port to serve the Wyoming protocol on, for Home Assistant and other clients, such as 127.0.0.1:10200; port 0 picks a free one. If not set, the protocol is not served.",
    }),
  ),
  wyomingKeyFile: text(
    "A file that contains only the API key under which clients of the Wyoming protocol are rate-limited and metered; the protocol itself has no keys. The environment variable ANTIPHON_WYOMING_KEY takes precedence.",
  ),
  playground: Type.Object({
    enabled: Type.Boolean({ default: true, description: "Whether the playground is served at /." }),
  }),
});

/** All settings, with defaults, valid and frozen. */
export type Settings = DeepReadonly<Static<typeof SettingsSchema>>;

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };
