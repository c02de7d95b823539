import Type, { type Static } from "typebox";
import { Checkpoints, Models } from "./model-settings.ts";

/** Levels of the log, as pino names them. */
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** An IP address or network, or a name that Fastify's `trustProxy` knows for a group of them. */
const ADDRESS_OR_NETWORK =
  "^([0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*(/[0-9]{1,3})?|loopback|linklocal|uniquelocal)$";

/** What browsers send as `Origin`: a scheme and a host in small letters, a port unless it is the scheme's own. */
const ORIGIN = "^[a-z][a-z0-9+.-]*://[^/\\s,?#@*A-Z]+$";

/** An address and a port; an IPv6 address stands in brackets. */
export const HOST_AND_PORT = "^(\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]\\s]+):[0-9]{1,5}$";

const MAX_MS = 86_400_000;

const port = { minimum: 0, maximum: 65_535 };

/** How many requests a minute a bucket regains, and how many it holds. */
const rate = { minimum: 1, maximum: 1_000_000 };

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
      "Folder for keys, usage and pulled models. A relative path in the file is read from the file's own folder.",
  }),
  pull: Type.Boolean({ default: true, description: "Whether missing weights are fetched at start." }),
  readings: Type.Enum(["standard", "improved"], {
    default: "standard",
    description:
      "How text is read. There is one way, that of a careful newsreader; both values name it, and `improved` is kept for configurations that have it.",
  }),
  lexicon: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "A file of your own words, which come before the dictionary's: a line a word, a tab, and `/phonemes/` or a respelling. A relative path in the file is read from the file's own folder.",
    }),
  ),
  workers: Type.Integer({
    minimum: 0,
    maximum: 64,
    default: 0,
    unit: "threads",
    description: "Threads that speak; 0 is one for each core, 64 at most.",
  }),
  concurrency: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 0,
    unit: "utterances",
    description: "Utterances spoken at once; 0 is 32 for each worker.",
  }),
  keyConcurrency: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 0,
    unit: "utterances",
    description:
      "Utterances of one key that may be open at once; 0 is as many as the server has places. Whatever it is, places go by turns to all keys that wait.",
  }),
  queueDepth: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 128,
    unit: "requests",
    description:
      "Requests that may wait: to be spoken, and as many each for room and to be written. One more is refused with 502.",
  }),
  keyQueueDepth: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 64,
    unit: "requests",
    description: "The same for the requests of one key; one more is refused with 429.",
  }),
  queueWaitMs: Type.Integer({
    minimum: 0,
    maximum: MAX_MS,
    default: 10_000,
    unit: "ms",
    description:
      "The longest that a request waits for its turn before it is refused; each kind of wait counts by itself.",
  }),
  generationTimeoutMs: Type.Integer({
    minimum: 100,
    maximum: MAX_MS,
    default: 30_000,
    unit: "ms",
    description:
      "Longest that the engine may take over the next frame of an utterance. Time that a client leaves frames unread does not count.",
  }),
  requestTimeoutMs: Type.Integer({
    minimum: 100,
    maximum: MAX_MS,
    default: 300_000,
    unit: "ms",
    description:
      "Longest that the making of a reply in one piece may take. Streams may take as long as they are read.",
  }),
  loadTimeoutMs: Type.Integer({
    minimum: 100,
    maximum: MAX_MS,
    default: 300_000,
    unit: "ms",
    description: "Longest wait for a model to load, and for a writer's first sentence.",
  }),
  stallTimeoutMs: Type.Integer({
    minimum: 100,
    maximum: MAX_MS,
    default: 300_000,
    unit: "ms",
    description:
      "Longest that a client may neither take a byte of what is ready for it nor send one of what it has announced. Systems keep some megabytes of what was sent, so that a byte is seen to be taken only now and then: below half a minute a listener in real time may be cut off.",
  }),
  headersTimeoutMs: Type.Integer({
    minimum: 100,
    maximum: MAX_MS,
    default: 15_000,
    unit: "ms",
    description: "Longest that a client may take to send the headers of a request.",
  }),
  uploadTimeoutMs: Type.Integer({
    minimum: 100,
    maximum: MAX_MS,
    default: 300_000,
    unit: "ms",
    description: "Longest that a client may take to send a whole request.",
  }),
  heartbeatMs: Type.Integer({
    minimum: 100,
    maximum: MAX_MS,
    default: 15_000,
    unit: "ms",
    description: "Silence on a stream after which a comment line keeps the connection alive.",
  }),
  shutdownGraceMs: Type.Integer({
    minimum: 0,
    maximum: MAX_MS,
    default: 10_000,
    unit: "ms",
    description: "How long a stopping server lets utterances finish before it cuts them off.",
  }),
  bodyLimitBytes: Type.Integer({
    minimum: 1024,
    maximum: 2_147_483_647,
    default: 134_217_728,
    unit: "bytes",
    description: "Largest request body. 128 MiB admits three turns at the audio cap of 25 MiB, in base64.",
  }),
  receivingBudgetMb: Type.Integer({
    minimum: 1,
    maximum: 1_048_576,
    default: 136,
    unit: "MiB",
    description:
      "Memory for request bodies over 64 KiB that are being received; a body that finds no room waits, unread. The largest body that may be sent always fits.",
  }),
  keyReceivingBudgetMb: Type.Integer({
    minimum: 1,
    maximum: 1_048_576,
    default: 128,
    unit: "MiB",
    description: "The same for the bodies of one key.",
  }),
  audioBudgetMb: Type.Integer({
    minimum: 1,
    maximum: 1_048_576,
    default: 128,
    unit: "MiB",
    description:
      "Memory for the decoded audio of requests that are waiting or being spoken; a request that finds no room waits.",
  }),
  keyAudioBudgetMb: Type.Integer({
    minimum: 1,
    maximum: 1_048_576,
    default: 96,
    unit: "MiB",
    description: "The same for the requests of one key.",
  }),
  replyBudgetMb: Type.Integer({
    minimum: 1,
    maximum: 1_048_576,
    default: 128,
    unit: "MiB",
    description:
      "Memory for whole replies, from before they are spoken until their clients have taken them; a request that finds no room waits. A second of speech takes 48 kB.",
  }),
  keyReplyBudgetMb: Type.Integer({
    minimum: 1,
    maximum: 1_048_576,
    default: 96,
    unit: "MiB",
    description: "The same for the replies to one key.",
  }),
  memoryBudgetMb: Type.Integer({
    minimum: 0,
    maximum: 1_048_576,
    default: 0,
    unit: "MiB",
    description:
      "Memory that loaded models may take; beyond it the least recently used idle one is unloaded. 0 is 4096, or what the models need with this many workers, where that is more.",
  }),
  defaultKeyRpm: Type.Integer({
    ...rate,
    default: 600,
    unit: "requests a minute",
    description: "Sustained rate of a key made without one.",
  }),
  defaultKeyBurst: Type.Integer({
    ...rate,
    default: 60,
    unit: "requests",
    description: "Burst capacity of a key made without one.",
  }),
  anonymousRpm: Type.Integer({
    ...rate,
    default: 60,
    unit: "requests a minute",
    description: "Sustained rate of failed authentications from one address.",
  }),
  anonymousBurst: Type.Integer({
    ...rate,
    default: 60,
    unit: "requests",
    description: "Failed authentications that one address may make at once.",
  }),
  trustProxy: Type.Union(
    [Type.Boolean(), Type.Array(Type.String({ pattern: ADDRESS_OR_NETWORK }), { minItems: 1 })],
    {
      default: false,
      takes: "true, false or a list of IP addresses and networks",
      description:
        "Whose X-Forwarded-For names the client: nobody's (false), anybody's (true), or that of the listed addresses and networks.",
    },
  ),
  corsOrigins: Type.Union([Type.Literal("*"), Type.Array(Type.String({ pattern: ORIGIN }))], {
    default: [],
    takes: "* or a list of origins, such as https://app.example",
    description:
      "Whose web pages may call the service from a browser, beside its own playground: those of the listed origins, or everybody's (*). Such a page holds a key: give it one of its own, with a low rate.",
  }),
  keylessLists: Type.Enum(["audio", "all", "none"], {
    default: "audio",
    description:
      "Which lists are told without a key, because some clients ask for them so: /v1/audio/voices and /v1/audio/models (audio), also /v1/models (all), or none.",
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
        "Which language model writes, where writer.kind is embedded: one that `antiphon models list` shows as installed, or `auto` for the largest of them that this machine begins a reply with in 1.5 s.",
    }),
    gate: Type.Boolean({
      default: true,
      description:
        "Whether dangerous or distressed turns get a fixed, careful reply before any writer sees them. Switch it off only where something better stands in its place.",
    }),
    authoredReplies: Type.Boolean({
      default: true,
      description:
        "Whether the small embedded model writes only what nothing better answers: a sum, a line for the kind of turn, or a found reply.",
    }),
    instructions: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "What every reply of a chat endpoint or a GGUF file is to keep to, as in: You are Ann, at the desk of the Green Fork. A request's own instructions come after it.",
      }),
    ),
    systemPrompt: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "What a chat endpoint, a GGUF file or a model from the hub is told before its instructions; without it, to answer briefly and as one speaks. Set it only to say that otherwise.",
      }),
    ),
    concurrency: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 64,
      unit: "turns",
      description: "Turns written at once; more wait, as requests do for their turn to speak.",
    }),
    keyConcurrency: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 48,
      unit: "turns",
      description: "Turns of one key written at once.",
    }),
    maxTokens: Type.Integer({
      minimum: 8,
      maximum: 4096,
      default: 160,
      unit: "tokens",
      description: "Most tokens that a chat endpoint or a GGUF file may write for one reply.",
    }),
    contextTokens: Type.Integer({
      minimum: 256,
      maximum: 131_072,
      default: 2_048,
      unit: "tokens",
      description:
        "How much of a conversation a GGUF file or a model from the hub reads, its instructions included. More takes more memory, and longer until the first sentence.",
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
        "Whether those replies are computed together. That is faster where several are written at once, but what one says at temperature 0 may then depend on the others.",
    }),
    threads: Type.Integer({
      minimum: 0,
      maximum: 256,
      default: 0,
      unit: "threads",
      description:
        "Threads on which a GGUF file or a model from the hub reads and writes while nobody is spoken to; 0 is one for each core. While somebody is, it takes one.",
    }),
    path: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "The GGUF file, where writer.kind is gguf. A relative path in the file is read from the file's own folder.",
      }),
    ),
    baseUrl: Type.Optional(
      Type.String({
        pattern: "^https?://",
        description:
          "Where the chat endpoint's routes begin, as in http://127.0.0.1:11434/v1, where writer.kind is chat.",
      }),
    ),
    model: Type.Optional(
      Type.String({ minLength: 1, description: "The model to ask the chat endpoint for." }),
    ),
    apiKeyFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "A file that holds the chat endpoint's key and nothing else. The environment variable ANTIPHON_WRITER_API_KEY wins over it.",
      }),
    ),
    tokenLimitField: Type.Enum(["max_tokens", "max_completion_tokens"], {
      default: "max_tokens",
      description:
        "The name under which the chat endpoint takes writer.maxTokens; when it refuses one, the other is tried.",
    }),
    firstTokenTimeoutMs: Type.Integer({
      minimum: 100,
      maximum: MAX_MS,
      default: 10_000,
      unit: "ms",
      description: "Longest that the chat endpoint may take to begin its reply.",
    }),
    totalTimeoutMs: Type.Integer({
      minimum: 100,
      maximum: MAX_MS,
      default: 60_000,
      unit: "ms",
      description: "Longest that the chat endpoint may take over a whole reply.",
    }),
  }),
  recogniser: Type.Object({
    kind: Type.Enum(["embedded", "endpoint", "none"], {
      default: "embedded",
      description:
        "Who hears what recordings say: the embedded Whisper, an OpenAI-compatible endpoint, or nobody.",
    }),
    use: Type.Enum(["writer", "always", "never"], {
      default: "writer",
      description:
        "When turns that are sound alone are heard: where a writer answers them, always (so that given words follow their pace exactly, too), or never. Recordings that are sent to be transcribed are heard in any case.",
    }),
    checkpoint: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      default: "whisper-base",
      description:
        "Which recogniser hears, where recogniser.kind is embedded: one that `antiphon models list` shows.",
    }),
    baseUrl: Type.Optional(
      Type.String({
        pattern: "^https?://",
        description:
          "Where the endpoint's routes begin, as in http://127.0.0.1:8000/v1, where recogniser.kind is endpoint.",
      }),
    ),
    model: Type.Optional(Type.String({ minLength: 1, description: "The model to ask the endpoint for." })),
    apiKeyFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "A file that holds the endpoint's key and nothing else. The environment variable ANTIPHON_RECOGNISER_API_KEY wins over it.",
      }),
    ),
    totalTimeoutMs: Type.Integer({
      minimum: 100,
      maximum: MAX_MS,
      default: 60_000,
      unit: "ms",
      description: "Longest that the endpoint may take over one recording.",
    }),
  }),
  models: Models,
  checkpoints: Checkpoints,
  logLevel: Type.Enum(LOG_LEVELS, { default: "info", description: "Least severe messages that are logged." }),
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
        "Address and port on which Home Assistant and others are served by the Wyoming protocol, as in 127.0.0.1:10200; port 0 takes a free one. Without it they are not.",
    }),
  ),
  wyomingKeyFile: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "A file that holds the API key that Wyoming's clients are limited and metered by, and nothing else; the protocol has no keys of its own. The environment variable ANTIPHON_WYOMING_KEY wins over it.",
    }),
  ),
  playground: Type.Object({
    enabled: Type.Boolean({ default: true, description: "Whether the playground is served at /." }),
  }),
});

/** All settings, complete, checked and frozen. */
export type Settings = DeepReadonly<Static<typeof SettingsSchema>>;

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };
