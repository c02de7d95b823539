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
import { Checkpoints, Models } from "./model-settings.ts";

/** Levels of the log, as pino names them. */
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** An IP address or network, or a name that Fastify's `trustProxy` knows for a group of them. */
const ADDRESS_OR_NETWORK =
  "^([0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*(/[0-9]{1,3})?|loopback|linklocal|uniquelocal)$";

/** What browsers send as `Origin`, in ASCII: a scheme and a host in small letters, a port unless it is the scheme's own. */
const ORIGIN = "^(?!https:.*:443$|http:.*:80$)[a-z][a-z0-9+.-]*://[^/\\s,?#@*A-Z\\x80-\\uffff]+$";

/**
 * Every setting: its type, range, default, unit and meaning. The configuration file, the environment, the flags, the
 * static type and docs/settings.md are all read from here.
 */
export const SettingsSchema = Type.Object({
  host: Type.String({ minLength: 1, default: "127.0.0.1", description: "Address to listen on." }),
  port: Type.Integer({ ...port, default: 8080, description: "Port to listen on; 0 takes a free one." }),
  dataDir: Type.String({
    minLength: 1,
    description:
      "Folder for keys, usage and pulled models. A relative path in the settings file starts from that file's folder.",
  }),
  pull: Type.Boolean({ default: true, description: "Whether missing weights are fetched at start." }),
  lexicon: text(
    "A file of your own words, which come before the dictionary's: on each line a word, a tab, and `/phonemes/` or a respelling. A relative path in the settings file starts from that file's folder.",
  ),
  workers: Type.Integer({
    minimum: 0,
    maximum: 64,
    default: 0,
    unit: "threads",
    description: "Threads that speak; 0 is one for each core, at most 64.",
  }),
  concurrency: Type.Integer({
    ...utterances,
    default: 0,
    description: "Utterances spoken at once; 0 is 32 for each worker.",
  }),
  keyConcurrency: Type.Integer({
    ...utterances,
    default: 0,
    description:
      "Utterances of one key that may be open at once; 0 is as many as the server can speak at once. Slots are assigned round-robin across waiting keys in any case.",
  }),
  queueDepth: Type.Integer({
    ...requests,
    default: 128,
    description:
      "Requests that may wait to be spoken; as many again may wait for memory, and as many to be written. One more is refused with 502.",
  }),
  keyQueueDepth: Type.Integer({
    ...requests,
    default: 64,
    description: "The same for the requests of one key; one more is refused with 429.",
  }),
  queueWaitMs: Type.Integer({
    ...delay,
    default: 10_000,
    description:
      "How long a request may wait for its turn before it is refused. Each kind of wait counts separately.",
  }),
  generationTimeoutMs: Type.Integer({
    ...timeout,
    default: 30_000,
    description:
      "How long the engine may take over the next frame of an utterance. Time in which a client leaves frames unread does not count.",
  }),
  maxAheadS: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    default: 30,
    unit: "s",
    description:
      "How far ahead of a listener who plays it as it comes a stream's speech is made, and metered; 0 is no bound. Whole replies, and files that were not asked for as streams, come as fast as they are made.",
  }),
  requestTimeoutMs: Type.Integer({
    ...timeout,
    default: 300_000,
    description: "How long making a whole reply may take. Streams may last as long as they are read.",
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
      "How long a connection may stand still: the client neither takes a byte of what is ready for it nor sends one of what it announced. Operating systems buffer some megabytes, so the server sees bytes being taken only now and then; below half a minute, somebody listening in real time may be cut off.",
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
    description: "After this long without data, a comment line keeps a stream's connection alive.",
  }),
  drainDelayMs: Type.Integer({
    ...delay,
    default: 0,
    description:
      "How long a server that is told to stop still takes requests while /ready fails, so that a balancer can turn to other servers first. A second signal skips the rest.",
  }),
  shutdownGraceMs: Type.Integer({
    ...delay,
    default: 10_000,
    description:
      "How long a server that stops lets utterances finish before it cuts them off; it begins after drainDelayMs.",
  }),
  bodyLimitBytes: Type.Integer({
    minimum: 1024,
    maximum: 2_147_483_647,
    default: 134_217_728,
    unit: "bytes",
    description:
      "Largest request body. 128 MiB holds three turns with the most audio (25 MiB each), in base64.",
  }),
  receivingBudgetMb: Type.Integer({
    ...memory,
    default: 136,
    description:
      "Memory for request bodies over 64 KiB while they arrive, but for recordings to transcribe. A body that finds no room waits, unread; the largest permitted body always fits.",
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
      "Memory for the decoded audio of conversations that are waiting or being spoken, and for recordings that an endpoint hears (64 kB a second). A request that finds no room waits.",
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
      "Memory for whole replies, from before they are spoken until their clients have taken them. A request that finds no room waits. A second of speech takes 48 kB.",
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
      "Memory for loaded models; beyond it, the idle model that was used least recently is unloaded. 0 is 4096, or what the models need with this many workers, if that is more.",
  }),
  defaultKeyRpm: Type.Integer({
    ...rate,
    default: 600,
    unit: "requests a minute",
    description: "Sustained rate of a key that is made without one.",
  }),
  defaultKeyBurst: Type.Integer({
    ...rate,
    default: 60,
    unit: "requests",
    description: "Burst capacity of a key that is made without one.",
  }),
  anonymousRpm: Type.Integer({
    ...rate,
    default: 60,
    unit: "requests a minute",
    description: "Sustained rate of failed authentications that one address may make.",
  }),
  anonymousBurst: Type.Integer({
    ...rate,
    default: 60,
    unit: "requests",
    description: "Failed authentications that one address may make at once.",
  }),
  store: Type.Object({
    kind: Type.Optional(
      Type.Enum(["libsql", "postgres"], {
        description:
          "Where keys and usage are kept: in a file in dataDir (libsql), or in a PostgreSQL database that several servers may share. Not set: postgres where its address is given, or else libsql.",
      }),
    ),
    urlFile: text(
      "A file that holds nothing but the address of the PostgreSQL database, as in postgres://user:password@host:5432/database?sslmode=verify-full. The environment variable ANTIPHON_STORE_URL wins over it.",
    ),
    schema: Type.String({
      pattern: "^[a-z_][a-z0-9_]{0,62}$",
      default: "antiphon",
      takes: "1 to 63 small letters, digits and underscores, no digit first",
      description:
        "The schema in that database that holds Antiphon's tables; it is created if it does not exist.",
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
        "How long connecting to that database, or one statement there, may take, and how long a request waits for its key to be found; then it is refused with 502.",
    }),
    commitTimeoutMs: Type.Integer({
      minimum: 100,
      maximum: 600_000,
      default: 10_000,
      unit: "ms",
      description: "How long committing usage there is tried again before its request fails.",
    }),
    eventsKeptDays: Type.Integer({
      minimum: 1,
      maximum: 3_650,
      default: 3,
      unit: "days",
      description:
        "How long single requests are kept there, so that one that is committed twice counts once. Totals are kept for ever.",
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
      description: "Whether spoken conversations are served at `/v1/realtime`.",
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
  buckets: Type.Object({
    kind: Type.Enum(["memory", "valkey"], {
      default: "memory",
      description:
        "Where the buckets of keys are kept: in this server alone, or on a Valkey server that several share, so that a key's rate is that of all of them together.",
    }),
    urlFile: text(
      "A file that holds nothing but the address of the Valkey server, as in redis://user:password@host:6379/0, or rediss:// for TLS. The environment variable ANTIPHON_BUCKETS_URL wins over it.",
    ),
    prefix: Type.String({
      pattern: "^[A-Za-z0-9._:-]{1,64}$",
      default: "antiphon",
      takes: "1 to 64 letters, digits, dots, colons, hyphens or underscores",
      description:
        "What the names of the entries there begin with. Servers with the same prefix share their buckets.",
    }),
    timeoutMs: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 50,
      unit: "ms",
      description:
        "How long the Valkey server may take over an answer; then a bucket of this server with the same terms stands in.",
    }),
  }),
  trustProxy: Type.Union(
    [Type.Boolean(), Type.Array(Type.String({ pattern: ADDRESS_OR_NETWORK }), { minItems: 1 })],
    {
      default: false,
      takes: "true, false or a list of IP addresses and networks",
      description:
        "Whose X-Forwarded-For header is believed to name the client: nobody's (false), anybody's (true), or that of the listed addresses and networks.",
    },
  ),
  corsOrigins: Type.Union([Type.Literal("*"), Type.Array(Type.String({ pattern: ORIGIN }))], {
    default: [],
    takes: "* or a list of origins as browsers send them, such as https://app.example",
    description:
      "Which web pages may call the service from a browser, besides its own: those of the listed origins, or all of them (*). Such a page holds a key, so give it one of its own, with a low rate.",
  }),
  keylessLists: Type.Enum(["audio", "all", "none"], {
    default: "audio",
    description:
      "Which lists are open without a key, because some clients send none when they ask: /v1/audio/voices and /v1/audio/models (audio), also /v1/models (all), or none of them.",
  }),
  writer: Type.Object({
    kind: Type.Enum(["embedded", "chat", "gguf", "none"], {
      default: "embedded",
      description:
        "Who writes authored turns: the embedded language model, an OpenAI-compatible chat endpoint, a GGUF file of your own, or nobody.",
    }),
    checkpoint: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      default: "smollm2-135m",
      description:
        "Which language model writes, where writer.kind is embedded: one that `antiphon models list` shows as installed, or `auto` for the largest of them whose first sentence takes less than 1.5 s on this machine.",
    }),
    gate: Type.Boolean({
      default: true,
      description:
        "Whether dangerous or distressed turns get a fixed, careful reply before any writer sees them. Switch it off only where something better takes its place.",
    }),
    authoredReplies: Type.Boolean({
      default: true,
      description:
        "Whether sums, authored lines and found replies answer what they can, so that the small embedded model writes only the rest.",
    }),
    instructions: text(
      "What every reply of a chat endpoint, a GGUF file or a model from the hub should keep to, as in: You are Ann, at the desk of the Green Fork. A request's own instructions come after it.",
    ),
    systemPrompt: text(
      "What a chat endpoint, a GGUF file or a model from the hub is told before its instructions. By default it is told to be brief and to write as people speak; set this only to put that differently.",
    ),
    concurrency: Type.Integer({
      ...turns,
      default: 64,
      description: "Turns being written at once; more wait, as requests wait to be spoken.",
    }),
    keyConcurrency: Type.Integer({
      ...turns,
      default: 48,
      description: "Turns of one key being written at once.",
    }),
    maxTokens: Type.Integer({
      minimum: 8,
      maximum: 4096,
      default: 160,
      unit: "tokens",
      description:
        "Most tokens that a chat endpoint, a GGUF file or a model from the hub may write for one reply.",
    }),
    contextTokens: Type.Integer({
      minimum: 256,
      maximum: 131_072,
      default: 2_048,
      unit: "tokens",
      description:
        "How much of a conversation a GGUF file or a model from the hub reads, its instructions included. More takes more memory, and more time until the first sentence.",
    }),
    replies: Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 2,
      unit: "replies",
      description:
        "Replies that a GGUF file or a model from the hub writes at once; more wait. Each takes the memory of one context.",
    }),
    batchReplies: Type.Boolean({
      default: false,
      description:
        "Whether those replies are computed together. That is faster where several are being written, but what one of them says at temperature 0 may then depend on the others.",
    }),
    threads: Type.Integer({
      minimum: 0,
      maximum: 256,
      default: 0,
      unit: "threads",
      description:
        "Threads on which a GGUF file or a model from the hub reads and writes while the server is speaking to nobody; 0 is one for each core. While it is speaking, the model takes one.",
    }),
    path: text(
      "The GGUF file, where writer.kind is gguf. A relative path in the settings file starts from that file's folder.",
    ),
    baseUrl: Type.Optional(
      Type.String({
        pattern: HTTP_ADDRESS,
        description:
          "The chat endpoint's base address, as in http://127.0.0.1:11434/v1, where writer.kind is chat.",
      }),
    ),
    model: text("The model to ask the chat endpoint for."),
    apiKeyFile: text(
      "A file that holds nothing but the chat endpoint's key. The environment variable ANTIPHON_WRITER_API_KEY wins over it.",
    ),
    firstTokenTimeoutMs: Type.Integer({
      ...timeout,
      default: 10_000,
      description: "How long the chat endpoint may take to begin its reply.",
    }),
    totalTimeoutMs: Type.Integer({
      ...timeout,
      default: 60_000,
      description: "How long the chat endpoint may take over a whole reply.",
    }),
  }),
  recogniser: Type.Object({
    kind: Type.Enum(["embedded", "endpoint", "none"], {
      default: "embedded",
      description:
        "Who hears what is said in recordings: the embedded Whisper, an OpenAI-compatible endpoint, or nobody.",
    }),
    use: Type.Enum(["writer", "always", "never"], {
      default: "writer",
      description:
        "When turns that are sound alone are heard: where a writer answers them (writer), also where the reply's words are given, which then keep a clip's pace more exactly (always), or never. Recordings sent to be transcribed are heard in any case.",
    }),
    checkpoint: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      default: "whisper-base",
      description:
        "Which recogniser it is, where recogniser.kind is embedded: one that `antiphon models list` shows.",
    }),
    baseUrl: Type.Optional(
      Type.String({
        pattern: HTTP_ADDRESS,
        description:
          "The endpoint's base address, as in http://127.0.0.1:8000/v1, where recogniser.kind is endpoint.",
      }),
    ),
    model: text("The model to ask the endpoint for."),
    apiKeyFile: text(
      "A file that holds nothing but the endpoint's key. The environment variable ANTIPHON_RECOGNISER_API_KEY wins over it.",
    ),
    totalTimeoutMs: Type.Integer({
      ...timeout,
      default: 60_000,
      description: "How long the endpoint may take over one recording.",
    }),
  }),
  models: Models,
  checkpoints: Checkpoints,
  logLevel: Type.Enum(LOG_LEVELS, {
    default: "info",
    description: "The least severe level of messages that is logged.",
  }),
  metrics: Type.Object({
    enabled: Type.Boolean({ default: true, description: "Whether /metrics is served." }),
    port: Type.Optional(
      Type.Integer({
        ...port,
        description: "Port for /metrics alone; without it, /metrics is on the main port.",
      }),
    ),
    host: Type.String({
      minLength: 1,
      default: "127.0.0.1",
      description: "Address for /metrics alone, where metrics.port is set.",
    }),
  }),
  wyoming: Type.Optional(
    Type.String({
      pattern: HOST_AND_PORT,
      description:
        "Address and port on which Home Assistant and others are served over the Wyoming protocol, as in 127.0.0.1:10200; port 0 takes a free one. Without it, the protocol is not served.",
    }),
  ),
  wyomingKeyFile: text(
    "A file that holds nothing but the API key by which clients of the Wyoming protocol are limited and metered; the protocol has no keys of its own. The environment variable ANTIPHON_WYOMING_KEY wins over it.",
  ),
  playground: Type.Object({
    enabled: Type.Boolean({ default: true, description: "Whether the playground is served at /." }),
  }),
});

/** All settings, complete, checked and frozen. */
export type Settings = DeepReadonly<Static<typeof SettingsSchema>>;

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };
