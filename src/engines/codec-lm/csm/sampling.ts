import type { SamplingParams, Utterance } from "../codec-language-model.ts";
import { type Fields, optionFields } from "../fields.ts";
import type { DecodedStream } from "../mimi/frame-decoder.ts";
import { CodeHistory, type RepetitionPenalty, type Rng, type SamplerConfig, sampleCode } from "../sampler.ts";
import type { SequenceState } from "../sequence.ts";
import type { CsmConfig } from "./config.ts";

export interface CsmSettings {
  /** Sampler of the first codebook (backbone). */
  readonly first: SamplerConfig;
  /** Sampler of the others (depth decoder). */
  readonly others: SamplerConfig;
  /** Penalty on earlier first codes; `null`: none, as in the reference. */
  readonly penalty: RepetitionPenalty | null;
  readonly maxFrames: number;
}

/** Options by the reference's names. */
const OPTIONS = [
  ...["temperature", "top_k", "do_sample", "max_new_tokens"],
  ...["depth_decoder_temperature", "depth_decoder_top_k", "depth_decoder_do_sample"],
];

/**
 * Merges the request's parameters over the checkpoint's defaults. As in the reference, the default is no sampling,
 * and a top-k of 50.
 *
 * @param generation `generation_config.json`
 * @throws OptionError naming an unknown or wrong option; CheckpointError naming a field
 */
export function csmSettings(generation: Fields, { sampling, options }: Utterance): CsmSettings {
  const given = optionFields(options, "CSM", { texts: [], values: OPTIONS });
  const { temperature, acousticTemperature = temperature, topK } = sampling;
  const samplerConfig = (prefix: string, asked: number | undefined): SamplerConfig => {
    const name = (key: string): string => `${prefix}${key}`;
    const of = (key: string): Fields => (given.has(name(key)) ? given : generation);
    const isAsked = asked !== undefined && !given.has(name("temperature")) && !given.has(name("do_sample"));
    if (isAsked) return { temperature: asked, topK: topKOf(prefix) };
    const isSampled = of("do_sample").flag(name("do_sample"), false);
    return {
      temperature: isSampled ? of("temperature").positive(name("temperature"), 1) : 0,
      topK: topKOf(prefix),
    };
  };
  const topKOf = (prefix: string): number | null => {
    const name = `${prefix}top_k`;
    if (!given.has(name) && topK !== undefined) return topK;
    return (given.has(name) ? given : generation).integer(name, 50, 0) || null;
  };
  return {
    first: samplerConfig("", temperature),
    others: samplerConfig("depth_decoder_", acousticTemperature),
    penalty: createPenalty(sampling),
    maxFrames: given.has("max_new_tokens")
      ? given.integer("max_new_tokens")
      : (sampling.maxFrames ?? generation.integer("max_new_tokens", 125)),
  };
}

/** Subtracted from a logit per unit of the penalty. */
const PENALTY_UNIT = 0.1;
/** Default of the contract. */
const PENALTY_WINDOW = 20;

export function csmSequenceState(
  prompt: Float32Array,
  { first, others, penalty, maxFrames }: CsmSettings,
  rng: Rng,
  sound: DecodedStream,
  { codec }: CsmConfig,
): SequenceState {
  const history = new CodeHistory();
  return {
    ...{ prompt, depthSampler: others, rng, decoderStream: sound },
    sampleFirst(logits) {
      // Codes that the codec does not have are excluded.
      const known = logits.subarray(0, codec.codes);
      return sampleCode(history.penalise(known, penalty, END_CODE), first, rng);
    },
    acceptFrame(frame) {
      history.add(frame[0]!);
      // The last codebook is ignored: a frame with a non-zero code there also ends the speech, but is audible.
      const isLast = frame.slice(0, -1).every((code) => code === END_CODE);
      const isAudible = !(isLast && frame.at(-1) === END_CODE);
      if (isLast) return { isAudible, stop: "finished" };
      return { isAudible, stop: history.count >= maxFrames ? "length" : null };
    },
  };
}

function createPenalty({
  repetitionPenalty = 0,
  penaltyWindow = PENALTY_WINDOW,
}: SamplingParams): RepetitionPenalty | null {
  if (repetitionPenalty === 0) return null;
  return { apply: (score) => score - PENALTY_UNIT * repetitionPenalty, window: penaltyWindow };
}

/** Code of all codebooks in a stop frame; it is never penalised. */
const END_CODE = 0;
