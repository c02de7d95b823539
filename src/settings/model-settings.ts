import Type, { type Static } from "typebox";
import { HTTP_ADDRESS, MAX_MS, text, timeout } from "./bounds.ts";

/** A name in the settings, in lists and in the log. */
const NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
/** An environment variable without our prefix, since unknown variables with it are refused as settings. */
const OTHER_VARIABLE = "^(?!ANTIPHON_)[A-Za-z_][A-Za-z0-9_]*$";

const closed = { additionalProperties: false };

/** A remote server that speaks for a public model. */
const Remote = Type.Object(
  {
    kind: Type.Enum(["openai", "antiphon"], {
      description: "Kind of server: with OpenAI's `POST /audio/speech`, or another Antiphon.",
    }),
    urls: Type.Array(Type.String({ pattern: HTTP_ADDRESS }), {
      minItems: 1,
      maxItems: 64,
      takes: "a list of addresses that begin with http:// or https://",
      description:
        "Base URLs, such as http://127.0.0.1:8880/v1. Several URLs must be equivalent; a request goes to the least busy one.",
    }),
    model: text("Model name on that server. Required for `openai`."),
    voices: Type.Optional(
      Type.Record(Type.String(), Type.String({ minLength: 1 }), {
        takes:
          'an object from names to names, as in {"0": "af_heart", "1": "am_michael", "bella": "af_bella"}',
        description:
          'Your speakers and voice names, each with that server\'s voice, as in `{"0": "af_heart", "bella": "af_bella"}`. Required for `openai`.',
      }),
    ),
    format: Type.Enum(["wav", "pcm"], {
      default: "wav",
      description: "`openai`: format to request; `pcm` is 16-bit samples without a header.",
    }),
    sampleRateHz: Type.Integer({
      minimum: 8_000,
      maximum: 48_000,
      default: 24_000,
      description: "Sample rate of `pcm`.",
    }),
    references: Type.Boolean({
      default: false,
      description:
        "That server clones voices: send the speaker's latest transcribed clip as `ref_audio` and `ref_text`.",
    }),
    keyFile: text("File that contains only that server's API key."),
    keyEnv: Type.Optional(
      Type.String({
        pattern: OTHER_VARIABLE,
        takes: "the name of an environment variable that does not begin with ANTIPHON_",
        description:
          "Environment variable with that API key; must not begin with `ANTIPHON_`. Overrides `keyFile`.",
      }),
    ),
    maxConcurrent: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 32,
      description: "Utterances that the server speaks at once; others wait.",
    }),
    firstSoundTimeoutMs: Type.Integer({
      ...timeout,
      default: 10_000,
      description: "Limit for the first audio, over all attempts.",
    }),
    idleTimeoutMs: Type.Integer({
      ...timeout,
      default: 10_000,
      description: "Limit for each pause after the first audio.",
    }),
  },
  closed,
);

const LabelVoice = Type.Union([
  Type.Object({ preset: Type.String({ minLength: 1 }) }, closed),
  Type.Object({ clip: Type.String({ minLength: 1 }), text: Type.Optional(Type.String()) }, closed),
]);

/** A local codec language model. */
const HERE = {
  path: text(
    "Folder of a codec language model, as published. Not needed if NAME is one that `antiphon models list` prints.",
  ),
  precision: Type.Enum(["fp32", "int8", "int4"], {
    default: "int8",
    description:
      "Precision of the transformers; `int4` applies to the larger one. Fewer bits are faster but less exact.",
  }),
  maxConcurrent: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 4,
    description: "Utterances computed together; others wait. Each takes memory.",
  }),
  threads: Type.Integer({
    minimum: 0,
    maximum: 64,
    default: 0,
    description: "Threads; 0 means one per core, at most 4 (Kokoro: 8, each for one listener).",
  }),
  pace: Type.Enum(["throughput", "realtime"], {
    default: "throughput",
    description: "`realtime` refuses an utterance with 502 if it would make all slower than real time.",
  }),
  voices: Type.Optional(
    Type.Record(Type.String(), LabelVoice, {
      takes:
        'an object from speaker labels to {"preset": NAME} or {"clip": FILE, "text": WORDS}, as in {"0": {"preset": "vivian"}}',
      description:
        'Voice of each speaker: `{"0": {"preset": "vivian"}, "1": {"clip": FILE, "text": WORDS}}`.',
    }),
  ),
  language: text("Qwen3-TTS: language by the model's name, such as `english`. Default: detected."),
  instruct: text("Qwen3-TTS: how to speak, or the voice to design, in words."),
  resident: Type.Boolean({
    default: true,
    description: "Load it at start and keep it in memory. Otherwise it is loaded on demand.",
  }),
  idleUnloadS: Type.Integer({
    minimum: 0,
    maximum: MAX_MS / 1_000,
    default: 0,
    description: "Idle time before it is unloaded, unless `resident`; 0: only if memory is needed.",
  }),
};

const Here = Type.Object(HERE);

/** A remote checkpoint. */
export interface RemoteSettings {
  readonly remote: Static<typeof Remote>;
}

/** A local checkpoint. */
export type CodecLmSettings = Static<typeof Here>;

/** Checkpoints other than the embedded voice, by name. */
export const Checkpoints = Type.Record(
  Type.String({ pattern: NAME }),
  Type.Unsafe<RemoteSettings | (CodecLmSettings & { readonly remote?: undefined })>(
    Type.Object(
      { remote: Type.Optional(Remote), ...HERE },
      { ...closed, alone: ["remote"], description: "A checkpoint that runs elsewhere or on this machine." },
    ),
  ),
  {
    ...closed,
    default: {},
    takes: "an object of checkpoints by their names",
    description: "Speech models by name: remote servers, or codec language models in a folder.",
  },
);

/** Recorded voices for every key, and manners of voices. */
export const Voices = Type.Record(
  Type.String({ pattern: NAME }),
  Type.Union(
    [
      Type.String({ minLength: 1 }),
      Type.Object(
        {
          clip: Type.Optional(Type.String({ minLength: 1 })),
          text: Type.Optional(Type.String()),
          instructions: Type.Optional(Type.String({ maxLength: 4_096 })),
        },
        closed,
      ),
    ],
    {
      takes: 'a file, or {"clip": FILE, "text": WORDS, "instructions": WORDS}',
      description:
        'A recording of 1 to 30 s: a file, or `{"clip": FILE, "text": WORDS, "instructions": WORDS}`. Without `clip`, NAME is an existing voice or speaker.',
    },
  ),
  {
    ...closed,
    default: {},
    takes: "an object of recordings by the voices' names",
    description: "Recorded voices for every key, by name.",
  },
);

/** The checkpoint of a public model. */
export const Models = Type.Record(
  Type.String({ pattern: NAME }),
  Type.Object(
    {
      checkpoint: Type.String({
        pattern: NAME,
        description:
          "A name in `checkpoints`, a pulled model such as `kokoro`, or `heart`, the embedded voice.",
      }),
      displayName: text("Name shown to people."),
      description: text("Description in `GET /v1/models`."),
    },
    closed,
  ),
  {
    ...closed,
    default: {},
    takes: "an object of models by their public ids",
    description: "Checkpoint of each public model id, built-in or new.",
  },
);
