import Type, { type Static } from "typebox";
import type { Delivery, UnusedKnobs } from "../core/script.ts";
import { MAX_NEW_TOKENS, MIN_NEW_TOKENS } from "./limits.ts";
import { nullable, stringEnum } from "./string-enum.ts";

const AUDIO_QUALITIES = ["low", "medium", "high"] as const;

export type QualityTier = (typeof AUDIO_QUALITIES)[number];

export const QualityTier = stringEnum(AUDIO_QUALITIES, {
  description: "Tier the audio is rendered at: `high` is full quality, lower tiers are narrower.",
});

/** Generation parameters of a request (specification, section 2), all optional. */
export const GenParams = Type.Object(
  {
    temperature: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1.5,
        default: 0.7,
        description: "Sampling temperature for words and delivery; 0 is deterministic.",
      }),
    ),
    acoustic_temperature: Type.Optional(
      nullable("number", {
        minimum: 0,
        maximum: 1.5,
        default: null,
        description: "Temperature for fine acoustic detail; null follows `temperature`.",
      }),
    ),
    top_k: Type.Optional(
      nullable("integer", {
        minimum: 1,
        default: null,
        description: "Sample from this many most likely tokens; null means all.",
      }),
    ),
    repetition_penalty: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 6,
        default: 3,
        description: "Audio repetition penalty; 0 turns it off.",
      }),
    ),
    penalty_window: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 80,
        default: 20,
        description: "Number of past frames that the repetition penalty covers.",
      }),
    ),
    max_new_tokens: Type.Optional(
      Type.Integer({
        minimum: MIN_NEW_TOKENS,
        maximum: MAX_NEW_TOKENS,
        default: 512,
        description: "Cap on generated frames of 80 ms; about 12.5 make a second of speech.",
      }),
    ),
    audio_quality: Type.Optional(Type.Unsafe<QualityTier>({ ...QualityTier, default: "high" })),
  },
  { title: "GenParams", description: "Generation knobs; every field is optional." },
);

export type GenParams = Static<typeof GenParams>;

/** All parameters with defaults filled in. */
export type ResolvedParams = Required<GenParams>;

/** Parameters of a request without `params`: `defaults` of `GET /v1/info`. */
export const DEFAULT_PARAMS: ResolvedParams = {
  temperature: 0.7,
  acoustic_temperature: null,
  top_k: null,
  repetition_penalty: 3,
  penalty_window: 20,
  max_new_tokens: 512,
  audio_quality: "high",
};

export function resolveParams(params: GenParams | undefined): ResolvedParams {
  return { ...DEFAULT_PARAMS, ...params };
}

/** A parameter, described for user interfaces. */
export interface ParamKnob {
  readonly name: keyof GenParams;
  readonly label: string;
  readonly type: "number" | "integer" | "choice";
  readonly nullable: boolean;
  readonly default: number | string | null;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly step?: number;
  readonly choices?: readonly string[];
  readonly description: string;
  /** Models on which it has no effect, by id, and why, in a sentence for people. */
  readonly unused_by: Readonly<Record<string, string>>;
}

/**
 * Returns `param_schema` of `GET /v1/info`.
 *
 * @param unused parameters without effect, by model id
 */
export function paramKnobs(unused: Readonly<Record<string, UnusedKnobs>> = {}): ParamKnob[] {
  return (Object.keys(LABELS) as (keyof GenParams)[]).map((name) => ({
    ...knob(name, GenParams.properties[name] as KnobSchema),
    unused_by: Object.fromEntries(
      Object.entries(unused).flatMap(([model, { [DELIVERY[name]]: why }]) =>
        why === undefined ? [] : [[model, why]],
      ),
    ),
  }));
}

/** Internal name of each parameter. */
const DELIVERY: Readonly<Record<keyof GenParams, keyof Delivery>> = {
  temperature: "temperature",
  acoustic_temperature: "acousticTemperature",
  top_k: "topK",
  repetition_penalty: "repetitionPenalty",
  penalty_window: "penaltyWindow",
  max_new_tokens: "maxFrames",
  audio_quality: "quality",
};

const LABELS: Record<keyof GenParams, string> = {
  temperature: "Temperature",
  acoustic_temperature: "Acoustic temperature",
  top_k: "Top k",
  repetition_penalty: "Repetition penalty",
  penalty_window: "Penalty window",
  max_new_tokens: "Longest reply, frames",
  audio_quality: "Audio quality",
};

interface KnobSchema {
  type?: string | string[];
  minimum?: number;
  maximum?: number;
  description?: string;
}

function knob(name: keyof GenParams, schema: KnobSchema): Omit<ParamKnob, "unused_by"> {
  const types = [schema.type ?? "string"].flat();
  const base = {
    name,
    label: LABELS[name],
    nullable: types.includes("null"),
    default: DEFAULT_PARAMS[name],
    description: schema.description ?? "",
  };
  if (types.includes("string")) return { ...base, type: "choice", choices: AUDIO_QUALITIES };
  const isInteger = types.includes("integer");
  return {
    ...base,
    type: isInteger ? "integer" : "number",
    step: isInteger ? 1 : 0.05,
    ...(schema.minimum === undefined ? {} : { minimum: schema.minimum }),
    ...(schema.maximum === undefined ? {} : { maximum: schema.maximum }),
  };
}
