import type { SamplingParams, Utterance } from "../codec-language-model.ts";
import { type Fields, optionFields } from "../fields.ts";
import type { DecodedStream } from "../mimi/frame-decoder.ts";
import { CodeHistory, type RepetitionPenalty, type Rng, type SamplerConfig, sampleCode } from "../sampler.ts";
import type { SequenceState } from "../sequence.ts";
import { CONTROL_ROWS, type Qwen3TtsConfig } from "./config.ts";
import { addRow } from "./prompt.ts";

export interface Qwen3TtsSettings {
  /** Sampler of the first codebook (talker). */
  readonly first: SamplerConfig;
  /** Sampler of the others (code predictor). */
  readonly others: SamplerConfig;
  readonly penalty: RepetitionPenalty;
  readonly maxFrames: number;
  /** `null`: not given. */
  readonly speaker: string | null;
  readonly language: string;
  readonly instruction: string | null;
  /** `null`: the default for the kind of checkpoint. */
  readonly isTextFirst: boolean | null;
  /** Whether only the voice vector of earlier speech is used, not its codes. */
  readonly isVoiceOnly: boolean;
}

/** Options by the reference's names. */
const TEXTS = ["speaker", "language", "instruct"];
const VALUES = [
  ...["non_streaming_mode", "x_vector_only_mode", "repetition_penalty", "max_new_tokens"],
  ...["temperature", "top_k", "top_p", "do_sample"],
  ...["subtalker_temperature", "subtalker_top_k", "subtalker_top_p", "subtalker_dosample"],
];

/**
 * Merges the request's parameters over the checkpoint's defaults over those of the reference.
 *
 * The option `do_sample` applies to both transformers unless `subtalker_dosample` is given too.
 *
 * @param generation `generation_config.json`
 * @throws OptionError naming an unknown or wrong option; CheckpointError naming a field
 */
export function qwen3TtsSettings(generation: Fields, { sampling, options }: Utterance): Qwen3TtsSettings {
  const given = optionFields(options, "Qwen3-TTS", { texts: TEXTS, values: VALUES });
  const of = (name: string): Fields => (given.has(name) ? given : generation);
  const { temperature, acousticTemperature = temperature, topK } = sampling;

  const samplerConfig = (prefix: string, doSample: string, asked: number | undefined): SamplerConfig => {
    const names = { temperature: `${prefix}temperature`, topK: `${prefix}top_k`, topP: `${prefix}top_p` };
    const says = [doSample, "do_sample"].find((name) => given.has(name));
    const common = {
      topK:
        topK !== undefined && !given.has(names.topK)
          ? topK
          : of(names.topK).integer(names.topK, 50, 0) || null,
      topP: of(names.topP).positive(names.topP, 1),
    };
    if (asked !== undefined && says === undefined && !given.has(names.temperature)) {
      return { temperature: asked, ...common };
    }
    const isSampled = says === undefined ? generation.flag(doSample, true) : given.flag(says);
    return {
      temperature: isSampled ? of(names.temperature).positive(names.temperature, 0.9) : 0,
      ...common,
    };
  };

  const instruction = given.text("instruct", "").trim();
  return {
    first: samplerConfig("", "do_sample", temperature),
    others: samplerConfig("subtalker_", "subtalker_dosample", acousticTemperature),
    penalty: createPenalty(of("repetition_penalty"), given.has("repetition_penalty") ? {} : sampling),
    maxFrames: readMaxFrames(generation, given, sampling.maxFrames),
    speaker: given.has("speaker") ? given.text("speaker") : null,
    language: given.text("language", "auto"),
    instruction: instruction === "" ? null : instruction,
    isTextFirst: given.has("non_streaming_mode") ? given.flag("non_streaming_mode") : null,
    isVoiceOnly: given.flag("x_vector_only_mode", false),
  };
}

/** Converts the contract's penalty to the reference's, where 1 is none. */
const PENALTY_UNIT = 1 / 60;
/** Default of the contract. */
const PENALTY_WINDOW = 20;

/** Input of the talker: rows before the first frame, and text rows to add to the frames. */
export interface TalkerInput {
  /** [n, width] */
  readonly prompt: Float32Array;
  /** Rows to add to successive frames, [n, width]; the last is added to all that follow. */
  readonly textRows: Float32Array;
}

export function qwen3TtsSequenceState(
  { prompt, textRows }: TalkerInput,
  { first, others, penalty, maxFrames }: Qwen3TtsSettings,
  rng: Rng,
  sound: DecodedStream,
  config: Qwen3TtsConfig,
): SequenceState {
  const history = new CodeHistory();
  return {
    ...{ prompt, depthSampler: others, rng, decoderStream: sound },
    sampleFirst(logits) {
      const code = sampleCode(firstCodeLogits(logits, history, penalty, config), first, rng);
      if (code === config.ids.end) return "finished";
      return history.count >= maxFrames ? "length" : code;
    },
    acceptFrame(frame) {
      history.add(frame[0]!);
      return { isAudible: true, stop: null };
    },
    addText(row) {
      const width = row.length;
      const last = textRows.length / width - 1;
      const at = Math.min(history.count - 1, last) * width;
      addRow(row, textRows.subarray(at, at + width));
    },
  };
}

/**
 * Returns the logits for the first code of a frame, in the order of the reference's logit processors: the penalty, no
 * end among the first two frames, no control rows.
 *
 * @param logits [rows], as the talker gives them
 */
export function firstCodeLogits(
  logits: Float32Array,
  history: CodeHistory,
  penalty: RepetitionPenalty,
  { rows, ids }: Pick<Qwen3TtsConfig, "rows" | "ids">,
): Float32Array {
  const scores = history.penalise(logits, penalty, null);
  const end = history.count < MIN_FRAMES ? Number.NEGATIVE_INFINITY : scores[ids.end]!;
  scores.fill(Number.NEGATIVE_INFINITY, rows - CONTROL_ROWS);
  scores[ids.end] = end;
  return scores;
}

/** Returns the reference's penalty over all frames, or the requested one over its window. */
function createPenalty(
  fields: Fields,
  { repetitionPenalty, penaltyWindow = PENALTY_WINDOW }: SamplingParams,
): RepetitionPenalty {
  const isAsked = repetitionPenalty !== undefined;
  const factor = isAsked ? 1 + PENALTY_UNIT * repetitionPenalty : fields.positive("repetition_penalty", 1.05);
  return {
    apply: (score) => (score < 0 ? score * factor : score / factor),
    window: isAsked ? penaltyWindow : null,
  };
}

/** The reference samples `max_new_tokens` first codes, the last of which does not become a frame. */
function readMaxFrames(generation: Fields, given: Fields, asked: number | undefined): number {
  if (given.has("max_new_tokens")) return given.integer("max_new_tokens", undefined, 2) - 1;
  return asked ?? generation.integer("max_new_tokens", 2_048, 2) - 1;
}

/** Frames before the speech may end. */
const MIN_FRAMES = 2;
