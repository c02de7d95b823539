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
      description:
        "The kind of server: one with OpenAI's `POST /audio/speech`, such as vLLM-Omni, Kokoro-FastAPI or Speaches, or another Antiphon.",
    }),
    urls: Type.Array(Type.String({ pattern: HTTP_ADDRESS }), {
      minItems: 1,
      maxItems: 64,
      takes: "a list of addresses that begin with http:// or https://",
      description:
        "Base addresses, such as http://127.0.0.1:8880/v1. If there are several, they must be equivalent: each request goes to the least busy one, and to another if that fails before any audio has arrived.",
    }),
    model: text(
      "The model's name on that server. Required for `openai`; another Antiphon uses its default model if this is not set.",
    ),
    voices: Type.Optional(
      Type.Record(Type.String(), Type.String({ minLength: 1 }), {
        takes:
          'an object from names to names, as in {"0": "af_heart", "1": "am_michael", "bella": "af_bella"}',
        description:
          'That server\'s names for the voices of the speakers "0" and "1", and for further voices under names that you choose, which requests then use as `voice`. Required for `openai`; another Antiphon uses its own "0" and "1" if this is not set.',
      }),
    ),
    format: Type.Enum(["wav", "pcm"], {
      default: "wav",
      description:
        "The audio format to request if `kind` is openai: WAV, whose header states the sample rate, or 16-bit samples without a header.",
    }),
    sampleRateHz: Type.Integer({
      minimum: 8_000,
      maximum: 48_000,
      default: 24_000,
      unit: "Hz",
      description: "The sample rate, if `format` is pcm.",
    }),
    references: Type.Boolean({
      default: false,
      description:
        "Whether it clones voices from `ref_audio` and `ref_text`, as vLLM-Omni does. If so, the speaker's latest clip of 1 to 30 s with a known transcript is sent with each request.",
    }),
    keyFile: text(
      "A file that contains only its API key. A relative path in the settings file is relative to that file's folder.",
    ),
    keyEnv: Type.Optional(
      Type.String({
        pattern: OTHER_VARIABLE,
        takes: "the name of an environment variable that does not begin with ANTIPHON_",
        description:
          "The environment variable that contains its API key; if that is set, it takes precedence over `keyFile`.",
      }),
    ),
    maxConcurrent: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 32,
      unit: "utterances",
      description:
        "Utterances that it speaks at once; further ones wait, within `queueDepth` and the other queue limits.",
    }),
    firstSoundTimeoutMs: Type.Integer({
      ...timeout,
      default: 10_000,
      description:
        "How long it may take until the first audio arrives, including all attempts: if several addresses do not respond, they share this time.",
    }),
    idleTimeoutMs: Type.Integer({
      ...timeout,
      default: 10_000,
      description: "How long it may then pause while more audio is awaited.",
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
    "The folder of a codec language model to run on this machine, as its authors publish it, or, for `kokoro`, of what was pulled. Not needed if NAME is one that `antiphon models pull` knows: `kokoro`, `csm-1b`, `qwen3-tts-0.6b`, `qwen3-tts-0.6b-custom`, `qwen3-tts-1.7b`, `qwen3-tts-1.7b-custom`. A relative path in the settings file is relative to that file's folder.",
  ),
  precision: Type.Enum(["fp32", "int8", "int4"], {
    default: "int8",
    description:
      "Precision of its transformers' weights: unquantised (fp32), quantised to 8 bits (int8), or the larger transformer to 4 bits (int4). Fewer bits are faster and take less memory, but deviate more from the original model.",
  }),
  maxConcurrent: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 4,
    unit: "utterances",
    description:
      "Utterances that it computes together. Each takes additional memory; further ones wait, within `queueDepth` and the other queue limits.",
  }),
  threads: Type.Integer({
    minimum: 0,
    maximum: 64,
    default: 0,
    unit: "threads",
    description:
      "Threads for its computation; 0 means one per core, at most 4. For Kokoro at most 8, each of which speaks to one listener.",
  }),
  pace: Type.Enum(["throughput", "realtime"], {
    default: "throughput",
    description:
      "Whether an utterance is refused with 502 if accepting it would make all utterances slower than real time (`realtime`), or never (`throughput`).",
  }),
  voices: Type.Optional(
    Type.Record(Type.String(), LabelVoice, {
      takes:
        'an object from speaker labels to {"preset": NAME} or {"clip": FILE, "text": WORDS}, as in {"0": {"preset": "vivian"}}',
      description:
        'The voices of the speakers "0" and "1": a preset of the checkpoint by its name, or a recording of a few seconds and its transcript (left out if it is unknown). A relative path in the settings file is relative to that file\'s folder.',
    }),
  ),
  language: text(
    "The language that Qwen3-TTS speaks, by the model's own names, such as `english`; if not set, the model detects it.",
  ),
  instruct: text(
    "How Qwen3-TTS should speak, or a description of the voice that it should design, in words.",
  ),
  resident: Type.Boolean({
    default: true,
    description:
      "Whether it is loaded at start and stays in memory. Otherwise the first request waits until it is loaded, and it is unloaded when its memory is needed.",
  }),
  idleUnloadS: Type.Integer({
    minimum: 0,
    maximum: MAX_MS / 1_000,
    default: 0,
    unit: "s",
    description:
      "After how long without a request it is unloaded, if it is not `resident`; 0 means not until its memory is needed.",
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
    description:
      "Speech models besides the embedded voice, by names that you choose: remote servers, or codec language models in a folder (see below and models.md).",
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
        "A recording of somebody who agrees, 1 to 30 s, and its transcript (left out if it is unknown). A relative path in the settings file is relative to that file's folder. `instructions` is how the voice speaks where a request has none of its own, as in `calm, a little slower`; without `clip`, NAME is a speaker label or a voice of a model.",
    },
  ),
  {
    ...closed,
    default: {},
    takes: "an object of recordings by the voices' names",
    description:
      "Voices by a recording that every key may use as `voice`, by names that you choose (see below and voices.md).",
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
          "The checkpoint to use: a name in `checkpoints`; `kokoro`, `csm-1b`, `qwen3-tts-0.6b` or another model that has been pulled; or `heart`, the embedded voice.",
      }),
      displayName: text("Name shown to people."),
      description: text("Description in `GET /v1/models`, instead of the model's own."),
    },
    closed,
  ),
  {
    ...closed,
    default: {},
    takes: "an object of models by their public ids",
    description:
      "Which checkpoint speaks for a public model id, whether a built-in id or a new one (see below and models.md).",
  },
);
