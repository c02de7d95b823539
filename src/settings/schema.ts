import Type, { type Static } from "typebox";
import {
  count,
  countOrZero,
  delay,
  HOST_AND_PORT,
  HTTP_ADDRESS,
  MAX_MS,
  memory,
  port,
  rate,
  text,
  timeout,
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
  tls: Type.Object({
    certFile: text("PEM file with the certificate chain; with it, the server speaks HTTPS."),
    keyFile: text("PEM file with the certificate's private key."),
  }),
  trustProxy: Type.Union(
    [Type.Boolean(), Type.Array(Type.String({ pattern: ADDRESS_OR_NETWORK }), { minItems: 1 })],
    {
      default: false,
      takes: "true, false or a list of IP addresses and networks",
      description:
        "Proxies whose `X-Forwarded-For` header is trusted: `true` (all), or addresses and networks.",
    },
  ),
  corsOrigins: Type.Union([Type.Literal("*"), Type.Array(Type.String({ pattern: ORIGIN }))], {
    default: [],
    takes: "* or a list of origins as browsers send them, such as https://app.example",
    description: "Origins whose web pages may call the server, such as https://app.example, or `*`.",
  }),
  keylessLists: Type.Enum(["audio", "all", "none"], {
    default: "audio",
    description:
      "Lists served without a key: `/v1/audio/voices` and `/v1/audio/models` (`audio`), also `/v1/models` (`all`).",
  }),
  playground: Type.Object({
    enabled: Type.Boolean({ default: true, description: "Serve the playground at `/`." }),
  }),
  drainDelayMs: Type.Integer({
    ...delay,
    default: 0,
    description: "How long a stopping server still accepts requests while `/ready` fails.",
  }),
  shutdownGraceMs: Type.Integer({
    ...delay,
    default: 10_000,
    description: "How long a stopping server then lets replies finish.",
  }),
  dataDir: Type.String({
    minLength: 1,
    description: "Folder for keys, usage, voices and models. Default: the platform's data folder.",
  }),
  store: Type.Object({
    kind: Type.Optional(
      Type.Enum(["libsql", "postgres"], {
        description:
          "Database of keys and usage: a file in `dataDir`, or PostgreSQL. Default: `postgres` if its URL is set.",
      }),
    ),
    urlFile: text("File that contains only the PostgreSQL URL."),
    schema: Type.String({
      pattern: "^[a-z_][a-z0-9_]{0,62}$",
      default: "antiphon",
      takes: "1 to 63 small letters, digits and underscores, no digit first",
      description: "PostgreSQL schema for Antiphon's tables; created if missing.",
    }),
    connections: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 3,
      description: "Connections that this server opens to PostgreSQL.",
    }),
    timeoutMs: Type.Integer({
      minimum: 100,
      maximum: 60_000,
      default: 2_000,
      description: "Limit for connecting, for one statement, and for looking up a key.",
    }),
    commitTimeoutMs: Type.Integer({
      minimum: 100,
      maximum: 600_000,
      default: 10_000,
      description: "How long a failed commit of usage is retried.",
    }),
    eventsKeptDays: Type.Integer({
      minimum: 1,
      maximum: 3_650,
      default: 3,
      description: "How long PostgreSQL keeps single requests; totals stay forever.",
    }),
  }),
  buckets: Type.Object({
    kind: Type.Enum(["memory", "valkey"], {
      default: "memory",
      description: "Where keys' rates are counted: in each server, or on a shared Valkey server.",
    }),
    urlFile: text("File that contains only the Valkey URL."),
    prefix: Type.String({
      pattern: "^[A-Za-z0-9._:-]{1,64}$",
      default: "antiphon",
      takes: "1 to 64 letters, digits, dots, colons, hyphens or underscores",
      description: "Prefix of entries in Valkey. Servers with the same prefix share rates.",
    }),
    timeoutMs: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 50,
      description: "Limit for Valkey's answer; after that, the server counts by itself.",
    }),
  }),
  defaultKeyRpm: Type.Integer({
    ...rate,
    default: 600,
    description: "Requests a minute for keys created without `--rpm`.",
  }),
  defaultKeyBurst: Type.Integer({
    ...rate,
    default: 60,
    description: "Requests at once for keys created without `--burst`.",
  }),
  anonymousRpm: Type.Integer({
    ...rate,
    default: 60,
    description: "Failed authentications a minute from one address.",
  }),
  anonymousBurst: Type.Integer({
    ...rate,
    default: 60,
    description: "Failed authentications at once from one address.",
  }),
  concurrency: Type.Integer({
    ...countOrZero,
    default: 0,
    description: "Utterances computed at once; 0 means 32 per worker.",
  }),
  keyConcurrency: Type.Integer({
    ...countOrZero,
    default: 0,
    description: "Utterances that one key may have open; 0 means no limit per key.",
  }),
  queueDepth: Type.Integer({
    ...countOrZero,
    default: 128,
    description: "Requests waiting in each queue; one more gets 502.",
  }),
  keyQueueDepth: Type.Integer({
    ...countOrZero,
    default: 64,
    description: "The same for one key; one more gets 429.",
  }),
  bodyLimitBytes: Type.Integer({
    minimum: 1024,
    maximum: 2_147_483_647,
    default: 134_217_728,
    description: "Largest request body.",
  }),
  receivingBudgetMb: Type.Integer({
    ...memory,
    default: 136,
    description: "Memory for bodies over 64 KiB while they arrive, except recordings to transcribe.",
  }),
  keyReceivingBudgetMb: Type.Integer({ ...memory, default: 128, description: "The same for one key." }),
  audioBudgetMb: Type.Integer({
    ...memory,
    default: 128,
    description: "Memory for decoded audio of conversations, and for recordings sent to an endpoint.",
  }),
  keyAudioBudgetMb: Type.Integer({ ...memory, default: 96, description: "The same for one key." }),
  replyBudgetMb: Type.Integer({
    ...memory,
    default: 128,
    description: "Memory for complete replies until clients have read them.",
  }),
  keyReplyBudgetMb: Type.Integer({ ...memory, default: 96, description: "The same for one key." }),
  memoryBudgetMb: Type.Integer({
    ...memory,
    minimum: 0,
    default: 0,
    description: "Memory for models; if exceeded, idle ones are unloaded. 0 means 4096, or more if needed.",
  }),
  maxAheadS: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    default: 30,
    description: "How far a stream is computed ahead of playback; 0 means no limit.",
  }),
  queueWaitMs: Type.Integer({
    ...delay,
    default: 10_000,
    description: "Limit for waiting in one queue.",
  }),
  generationTimeoutMs: Type.Integer({
    ...timeout,
    default: 30_000,
    description: "Limit for the next frame of an utterance.",
  }),
  requestTimeoutMs: Type.Integer({
    ...timeout,
    default: 300_000,
    description: "Limit for a complete reply. Streams have none.",
  }),
  loadTimeoutMs: Type.Integer({
    ...timeout,
    default: 300_000,
    description: "Limit for loading a model, and for a writer's first sentence.",
  }),
  stallTimeoutMs: Type.Integer({
    ...timeout,
    default: 300_000,
    description: "A connection without traffic for this long is closed. Keep it above 30000.",
  }),
  headersTimeoutMs: Type.Integer({
    ...timeout,
    default: 15_000,
    description: "Limit for receiving a request's headers.",
  }),
  uploadTimeoutMs: Type.Integer({
    ...timeout,
    default: 300_000,
    description: "Limit for receiving a whole request.",
  }),
  heartbeatMs: Type.Integer({
    ...timeout,
    default: 15_000,
    description: "Idle time before a stream gets a comment line, and interval of pings in realtime sessions.",
  }),
  workers: Type.Integer({
    minimum: 0,
    maximum: 64,
    default: 0,
    description: "Threads of the embedded voice; 0 means one per core (Node before 22.12: of the host).",
  }),
  voicePrecision: Type.Enum(["int8", "fp32"], {
    default: "int8",
    description:
      "Precision of the embedded voice. `fp32` takes nearly twice the CPU time and sounds the same.",
  }),
  pull: Type.Boolean({ default: true, description: "Download missing weights at start." }),
  lexicon: text("File with [pronunciations](pronunciation.md): each line a word, a tab and its sound."),
  models: Models,
  checkpoints: Checkpoints,
  voices: Voices,
  writer: Type.Object({
    kind: Type.Enum(["embedded", "chat", "gguf", "none"], {
      default: "embedded",
      description:
        "Source of replies: small talk or a pulled model, a chat endpoint, your GGUF file, or nothing.",
    }),
    checkpoint: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description: "`embedded`: the pulled language model. Default: small talk.",
      }),
    ),
    gate: Type.Optional(
      Type.Boolean({
        description:
          "Answer dangerous or distressed English turns with fixed replies. Default: true for small talk, false for models.",
      }),
    ),
    instructions: text("Instructions for every reply; a request's own follow them."),
    systemPrompt: text("System prompt that replaces the built-in one; instructions follow it."),
    concurrency: Type.Integer({ ...count, default: 64, description: "Turns written at once." }),
    keyConcurrency: Type.Integer({ ...count, default: 48, description: "Turns of one key written at once." }),
    maxTokens: Type.Integer({
      minimum: 8,
      maximum: 4096,
      default: 160,
      description: "Longest reply of a language model, in tokens.",
    }),
    contextTokens: Type.Integer({
      minimum: 256,
      maximum: 131_072,
      default: 2_048,
      description: "Context length of a local language model, in tokens.",
    }),
    replies: Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 2,
      description: "Replies that a local language model writes at once. Each takes one context's memory.",
    }),
    batchReplies: Type.Boolean({
      default: false,
      description: "Compute these replies in one batch: faster, but one may change another's text.",
    }),
    threads: Type.Integer({
      minimum: 0,
      maximum: 256,
      default: 0,
      description: "Threads of a local language model when no speech is computed; 0 means all cores but one.",
    }),
    path: text("`gguf`: the file."),
    baseUrl: Type.Optional(
      Type.String({
        pattern: HTTP_ADDRESS,
        description: "`chat`: base URL, such as http://127.0.0.1:11434/v1.",
      }),
    ),
    model: text("`chat`: model to request."),
    apiKeyFile: text("`chat`: file that contains only the API key."),
    firstTokenTimeoutMs: Type.Integer({
      ...timeout,
      default: 10_000,
      description: "`chat`: limit for the beginning of a reply.",
    }),
    totalTimeoutMs: Type.Integer({
      ...timeout,
      default: 60_000,
      description: "`chat`: limit for a whole reply.",
    }),
  }),
  recogniser: Type.Object({
    kind: Type.Enum(["embedded", "endpoint", "none"], {
      default: "embedded",
      description: "What transcribes: embedded Whisper, an OpenAI-compatible endpoint, or nothing.",
    }),
    use: Type.Enum(["writer", "always", "never"], {
      default: "writer",
      description: "Transcribe audio-only turns if a writer replies to them, always, or never.",
    }),
    checkpoint: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      default: "whisper-base",
      description: "`embedded`: a recogniser that `antiphon models list` shows.",
    }),
    baseUrl: Type.Optional(
      Type.String({
        pattern: HTTP_ADDRESS,
        description: "`endpoint`: base URL, such as http://127.0.0.1:8000/v1.",
      }),
    ),
    model: text("`endpoint`: model to request."),
    apiKeyFile: text("`endpoint`: file that contains only the API key."),
    totalTimeoutMs: Type.Integer({
      ...timeout,
      default: 60_000,
      description: "`endpoint`: limit for one recording.",
    }),
  }),
  realtime: Type.Object({
    enabled: Type.Boolean({ default: true, description: "Serve realtime sessions and telephone calls." }),
    sessions: Type.Integer({ ...count, default: 32, description: "Open sessions; one more gets 502." }),
    sessionsPerKey: Type.Integer({
      ...count,
      default: 16,
      description: "The same for one key; one more gets 429.",
    }),
    idleTimeoutMs: Type.Integer({
      minimum: 1_000,
      maximum: MAX_MS,
      default: 600_000,
      description: "A session whose client sends nothing for this long is closed.",
    }),
    maxSessionS: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 7_200,
      description: "Longest session.",
    }),
  }),
  twilio: Type.Object({
    authTokenFile: text(
      "File that contains only the Twilio auth token, or two with a comma; unsigned streams are then refused.",
    ),
  }),
  wyoming: Type.Optional(
    Type.String({
      pattern: HOST_AND_PORT,
      description: "Where to serve the Wyoming protocol, such as 127.0.0.1:10200. Default: off.",
    }),
  ),
  wyomingKeyFile: text(
    "File that contains only the API key under which Wyoming clients are limited and metered.",
  ),
  logLevel: Type.Enum(LOG_LEVELS, { default: "info", description: "Lowest severity to log." }),
  metrics: Type.Object({
    enabled: Type.Boolean({ default: true, description: "Serve `/metrics`." }),
    port: Type.Optional(
      Type.Integer({ ...port, description: "Separate port for `/metrics`. Default: the main port." }),
    ),
    host: Type.String({
      minLength: 1,
      default: "127.0.0.1",
      description: "Address for `/metrics`, if `metrics.port` is set.",
    }),
  }),
});

/** All settings, with defaults, valid and frozen. */
export type Settings = DeepReadonly<Static<typeof SettingsSchema>>;

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };
