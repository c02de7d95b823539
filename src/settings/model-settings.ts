import Type, { type Static } from "typebox";
import { HTTP_ADDRESS, MAX_MS, text, timeout } from "./bounds.ts";

/** A name that stands in the settings, in lists and in the log. */
const NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
/** A variable in the environment that is none of ours: ours are settings, and an unknown one is refused. */
const OTHER_VARIABLE = "^(?!ANTIPHON_)[A-Za-z_][A-Za-z0-9_]*$";

const closed = { additionalProperties: false };

/** What speaks for a public model elsewhere. */
const Remote = Type.Object(
  {
    kind: Type.Enum(["openai", "antiphon"], {
      description:
        "What is there: a server with OpenAI's `POST /audio/speech`, as vLLM-Omni, Kokoro-FastAPI and Speaches are, or another Antiphon.",
    }),
    urls: Type.Array(Type.String({ pattern: HTTP_ADDRESS }), {
      minItems: 1,
      maxItems: 64,
      takes: "a list of addresses that begin with http:// or https://",
      description:
        "Where its routes begin, as in http://127.0.0.1:8880/v1. Of several, which have to be alike, the one that has least to do is asked first, and another where it fails before a sound has come.",
    }),
    model: text(
      "What it calls the model. Needed for `openai`; without it another Antiphon's default speaks.",
    ),
    voices: Type.Optional(
      Type.Record(Type.String(), Type.String({ minLength: 1 }), {
        takes: 'an object from speaker labels to names, as in {"0": "af_heart", "1": "am_michael"}',
        description:
          'What it calls the voices of the speakers "0" and "1". Needed for `openai`; without it another Antiphon\'s own "0" and "1" speak.',
      }),
    ),
    format: Type.Enum(["wav", "pcm"], {
      default: "wav",
      description:
        "What it is asked for, where it is `openai`: a WAV, which tells its rate, or samples of 16 bits without a header.",
    }),
    sampleRateHz: Type.Integer({
      minimum: 8_000,
      maximum: 48_000,
      default: 24_000,
      unit: "Hz",
      description: "The rate of its samples, where `format` is pcm.",
    }),
    references: Type.Boolean({
      default: false,
      description:
        "Whether it clones voices from `ref_audio` and `ref_text`, as vLLM-Omni does: the speaker's latest clip of 1 to 30 s whose words are known is then sent along.",
    }),
    keyFile: text(
      "A file that holds its key and nothing else. A relative path in the file of settings is read from that file's own folder.",
    ),
    keyEnv: Type.Optional(
      Type.String({
        pattern: OTHER_VARIABLE,
        takes: "the name of an environment variable that does not begin with ANTIPHON_",
        description: "The environment variable that holds its key; where that is set it wins over `keyFile`.",
      }),
    ),
    maxConcurrent: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 32,
      unit: "utterances",
      description:
        "Utterances that it speaks at once; more wait, as `queueDepth` and the other limits of waiting say.",
    }),
    firstSoundTimeoutMs: Type.Integer({
      ...timeout,
      default: 10_000,
      description:
        "Longest that its first sound may take, all tries included: of several addresses that are silent, each has its part of it.",
    }),
    idleTimeoutMs: Type.Integer({
      ...timeout,
      default: 10_000,
      description: "Longest that it may then be silent while more of its sound is waited for.",
    }),
  },
  closed,
);

const LabelVoice = Type.Union([
  Type.Object({ preset: Type.String({ minLength: 1 }) }, closed),
  Type.Object({ clip: Type.String({ minLength: 1 }), text: Type.Optional(Type.String()) }, closed),
]);

/** A codec language model that is computed here. */
const HERE = {
  path: text(
    "The folder of a codec language model that is computed here, as its authors publish it. Not needed where NAME is one that `antiphon models pull` has: `csm-1b`, `qwen3-tts-0.6b`, `qwen3-tts-0.6b-custom`, `qwen3-tts-1.7b`, `qwen3-tts-1.7b-custom`. A relative path in the file of settings starts from that file's own folder.",
  ),
  precision: Type.Enum(["fp32", "int8", "int4"], {
    default: "int8",
    description:
      "What the transformers of it are computed with: numbers as they are, or quantised to 8 bits, or the larger transformer to 4. Fewer are faster, take less memory and stray further from its authors' numbers.",
  }),
  maxConcurrent: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 4,
    unit: "utterances",
    description:
      "Utterances that it computes together. Each takes memory of its own; more wait, as `queueDepth` and the other limits of waiting say.",
  }),
  threads: Type.Integer({
    minimum: 0,
    maximum: 64,
    default: 0,
    unit: "threads",
    description: "Threads that compute it together; 0 is one for each core, at most 4.",
  }),
  pace: Type.Enum(["throughput", "realtime"], {
    default: "throughput",
    description:
      "Whether an utterance is refused with 502 where with it none would be spoken as fast as it is heard (`realtime`), or never (`throughput`).",
  }),
  voices: Type.Optional(
    Type.Record(Type.String(), LabelVoice, {
      takes:
        'an object from speaker labels to {"preset": NAME} or {"clip": FILE, "text": WORDS}, as in {"0": {"preset": "vivian"}}',
      description:
        'Whose voices the speakers "0" and "1" have: one of the checkpoint\'s own by its name, or that of a recording of a few seconds and all the words in it (left out where nobody knows them). A relative path in the file of settings starts from that file\'s own folder.',
    }),
  ),
  language: text(
    "What language Qwen3-TTS speaks, by its own names, as in `english`; without it, it finds out.",
  ),
  instruct: text("How Qwen3-TTS is to speak, or what a voice that it designs is like, in words."),
  resident: Type.Boolean({
    default: true,
    description:
      "Whether it is loaded at start and stays in memory. Otherwise the first request waits until it is, and it leaves where its memory is wanted.",
  }),
  idleUnloadS: Type.Integer({
    minimum: 0,
    maximum: MAX_MS / 1_000,
    default: 0,
    unit: "s",
    description:
      "After how long without a request it leaves the memory, where it is not `resident`; 0 is not before its memory is wanted.",
  }),
};

const Here = Type.Object(HERE);

/** A checkpoint that is computed elsewhere. */
export interface RemoteSettings {
  readonly remote: Static<typeof Remote>;
}

/** A checkpoint that is computed here. */
export type CodecLmSettings = Static<typeof Here>;

/** What can speak, beside the embedded voice: by name. */
export const Checkpoints = Type.Record(
  Type.String({ pattern: NAME }),
  Type.Unsafe<RemoteSettings | (CodecLmSettings & { readonly remote?: undefined })>(
    Type.Object(
      { remote: Type.Optional(Remote), ...HERE },
      { ...closed, alone: ["remote"], description: "A checkpoint, which is computed elsewhere or here." },
    ),
  ),
  {
    ...closed,
    default: {},
    takes: "an object of checkpoints by their names",
    description:
      "Other voices than the embedded one, by names of your own: speech models behind an address, or codec language models in a folder (see below and models.md).",
  },
);

/** Which checkpoint speaks for a public id. */
export const Models = Type.Record(
  Type.String({ pattern: NAME }),
  Type.Object(
    {
      checkpoint: Type.String({
        pattern: NAME,
        description:
          "What speaks: a name in `checkpoints`; `csm-1b`, `qwen3-tts-0.6b` or another codec language model, once pulled; or `heart`, the embedded voice.",
      }),
      displayName: text("What people see."),
      description: text("What `GET /v1/models` says of it, in place of its own words."),
    },
    closed,
  ),
  {
    ...closed,
    default: {},
    takes: "an object of models by their public ids",
    description:
      "Which checkpoint speaks for a public id, one that there is or a new one (see below and models.md).",
  },
);
