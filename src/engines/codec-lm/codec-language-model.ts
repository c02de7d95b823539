import type { NativeGuard } from "../../onnx/session.ts";
import type { CodeFrame } from "./mimi/frame-decoder.ts";

export interface SpokenTurn {
  readonly speaker: string;
  readonly text: string | null;
  /** Mono samples at 24 kHz. */
  readonly audio: Float32Array | null;
  /** Identifies the recording, so that its codes can be cached. */
  readonly digest?: string;
  /** Codes of a turn that the model spoke itself; they take precedence over `audio`. */
  readonly codes?: readonly CodeFrame[];
}

export interface Utterance {
  readonly history: readonly SpokenTurn[];
  readonly open: { readonly speaker: string; readonly text: string };
  /** Whether the oldest turns may be dropped if the model has too few positions; otherwise it throws. */
  readonly mayDropTurns?: boolean;
  /** Whether to wait when the batch is full; otherwise it throws {@link BusyError}. */
  readonly mayWait?: boolean;
  /** Parameters of the request; missing ones come from the checkpoint's `generation_config.json`. */
  readonly sampling: SamplingParams;
  /** Parameters of the architecture by the reference's names; they override all others. */
  readonly options: ReadonlyMap<string, string>;
  /** Random draws to use in order; `null`: those of the seed. */
  readonly uniforms: readonly number[] | null;
  readonly seed: bigint;
}

export const EMPTY_UTTERANCE: Utterance = {
  history: [],
  open: { speaker: "0", text: "" },
  sampling: {},
  options: new Map(),
  uniforms: null,
  seed: 0n,
};

export interface SamplingParams {
  readonly temperature?: number;
  /** Temperature of the fine acoustic codes; `temperature` by default. */
  readonly acousticTemperature?: number;
  readonly topK?: number | null;
  /** 0 to 6, as in the contract: how much less likely a first code becomes once chosen; 0: unchanged. */
  readonly repetitionPenalty?: number;
  readonly penaltyWindow?: number;
  readonly maxFrames?: number;
}

export interface SpokenFrame {
  readonly codes: CodeFrame;
  /** 1920 samples at 24 kHz; none for a frame that only ends the speech. */
  readonly samples: Float32Array;
}

/** Why generation stopped: the model ended its speech, or a limit was reached. */
export type StopReason = "finished" | "length";

export interface GenerationResult {
  readonly stop: StopReason;
  /** Indices in the history of the turns in the prompt, oldest first. */
  readonly readTurns: readonly number[];
  /** Those of them whose audio was in the prompt. */
  readonly audioTurns: readonly number[];
}

export interface ClipSupport {
  /** `any`: an arbitrary voice, or those of the conversation; `clips`: the voice of a clip; `presets`: its own. */
  readonly kind: "any" | "clips" | "presets";
  /** Names of its presets in lower case; empty if it has none. */
  readonly presets: readonly string[];
}

/**
 * A checkpoint in memory; the caller closes it. Open utterances are computed together, a frame of each at a time, and
 * never affect each other's frames.
 */
export interface CodecLanguageModel {
  readonly voices: ClipSupport;
  /**
   * Computes each frame when it is asked for.
   *
   * @throws CheckpointError for an unknown option or a conversation that is too long
   */
  speak(utterance: Utterance, signal: AbortSignal): AsyncGenerator<SpokenFrame, GenerationResult, void>;
  close(): Promise<void>;
}

/**
 * Precision of the transformers' weights: float32, or blocks of 32 numbers of 8 or 4 bits. The codec stays
 * unquantised. With `int4`, layers that make logits keep 8 bits, and so does all of Qwen3-TTS's code predictor.
 */
export type Precision = "fp32" | "int8" | "int4";

export interface ModelSetup {
  readonly threads: number;
  readonly precision: Precision;
  readonly cacheFolder: string;
  /** Cancels the quantisation of weights, which takes some seconds. */
  readonly signal: AbortSignal;
  /** Required if the calling thread may be terminated. */
  readonly guard?: NativeGuard;
  /** Maximum utterances computed together. Default: 1. */
  readonly slots?: number;
  /** Maximum positions per utterance (bounds memory). Default: the model's context length. */
  readonly maxPositions?: number;
  readonly pace?: Pace;
  /** Maximum bytes of cached keys and values of prompts. Default: 256 MiB. */
  readonly maxPrefixBytes?: number;
}

/**
 * `realtime`: rejects an utterance with {@link BusyError} if all would then fall behind real time. `throughput`:
 * never rejects.
 */
export type Pace = "realtime" | "throughput";

/** One utterance too many: try again when another has ended. */
export class BusyError extends Error {
  override readonly name = "BusyError";
}
