import type { NativeGuard } from "../../onnx/session.ts";
import type { CodeFrame } from "./mimi/frame-decoder.ts";

/** A turn that was spoken. */
export interface SpokenTurn {
  readonly speaker: string;
  readonly text: string | null;
  /** At 24 kHz, mono. */
  readonly audio: Float32Array | null;
  /** Names what is recorded: what is made of the audio is then kept for a while. */
  readonly digest?: string;
  /** What the model chose when it said so itself; they come before `audio`. */
  readonly codes?: readonly CodeFrame[];
}

/** What a codec language model is asked to speak. */
export interface Utterance {
  readonly history: readonly SpokenTurn[];
  readonly open: { readonly speaker: string; readonly text: string };
  /** Whether the oldest turns are left out where the model has too few positions; otherwise that is an error. */
  readonly mayDropTurns?: boolean;
  /** Whether it waits where it would be one too many; otherwise it is refused with {@link BusyError}. */
  readonly mayWait?: boolean;
  /** What a request asks for; what is left out is as the checkpoint's `generation_config.json` has it. */
  readonly sampling: SamplingParams;
  /** Parameters of the architecture's own, by the reference's names; they come before everything else. */
  readonly options: ReadonlyMap<string, string>;
  /** Draws that are to be used in their order; `null`: those of the seed. */
  readonly uniforms: readonly number[] | null;
  readonly seed: bigint;
}

/** An utterance that asks for nothing: what a checkpoint says by itself. */
export const EMPTY_UTTERANCE: Utterance = {
  history: [],
  open: { speaker: "0", text: "" },
  sampling: {},
  options: new Map(),
  uniforms: null,
  seed: 0n,
};

export interface SamplingParams {
  /** 0: the likeliest is taken. */
  readonly temperature?: number;
  /** For fine acoustic detail; if it is left out it follows `temperature`. */
  readonly acousticTemperature?: number;
  readonly topK?: number | null;
  /** 0 to 6, as the contract has it: how much less likely first codes become that were chosen before; 0: none. */
  readonly repetitionPenalty?: number;
  /** Frames that the penalty looks back over. */
  readonly penaltyWindow?: number;
  readonly maxFrames?: number;
}

/** A frame that was chosen, and what it sounds like. */
export interface SpokenFrame {
  readonly codes: CodeFrame;
  /** 1920 samples at 24 kHz; none for the frame that ends the speech. */
  readonly samples: Float32Array;
}

/** Why no frame follows: the model ended, or it was not let go on. */
export type StopReason = "finished" | "length";

/** What there is to say of an utterance behind its last frame. */
export interface GenerationResult {
  readonly stop: StopReason;
  /** Indices in the history of the turns that were read, oldest first. */
  readonly readTurns: readonly number[];
  /** Of those, the ones whose sound was. */
  readonly audioTurns: readonly number[];
}

/** Whose voices a checkpoint speaks in. */
export interface VoiceSupport {
  /** `any`: it makes one up, or goes on with those of the conversation; `clips`: one that it hears; `presets`: its own. */
  readonly kind: "any" | "clips" | "presets";
  /** Names of its own voices, in lower case; none where it has none, or describes them. */
  readonly presets: readonly string[];
}

/**
 * A checkpoint in memory. The caller owns it and closes it. Utterances that are open at once are computed together, a frame
 * of each at a time; none changes another's frames.
 */
export interface CodecLanguageModel {
  readonly voices: VoiceSupport;
  /**
   * A frame is computed when it is asked for.
   *
   * @throws CheckpointError naming an option that is unknown, or saying that the conversation is too long
   */
  speak(utterance: Utterance, signal: AbortSignal): AsyncGenerator<SpokenFrame, GenerationResult, void>;
  close(): Promise<void>;
}

/**
 * What the transformers' weights are computed with: as they are, or in blocks of 32 numbers of so many bits. The codec is
 * computed as it is. With `int4`, what makes logits keeps 8 bits, and so does all of Qwen3-TTS's code predictor.
 */
export type Precision = "fp32" | "int8" | "int4";

export interface ModelSetup {
  /** That compute together. */
  readonly threads: number;
  readonly precision: Precision;
  /** Where quantised weights are kept. */
  readonly cacheFolder: string;
  /** Ends the making of quantised weights, which takes some seconds. */
  readonly signal: AbortSignal;
  /** Needed where somebody may end the calling thread. */
  readonly guard?: NativeGuard;
  /** Utterances that may be computed together; one unless said. */
  readonly slots?: number;
  /** Of one utterance at most, which bounds the memory; as many as the model has unless said. */
  readonly maxPositions?: number;
  /** `throughput` unless said. */
  readonly pace?: Pace;
  /** Of keys and values of prompts that may be kept for those that begin alike; 256 MiB unless said. */
  readonly maxPrefixBytes?: number;
}

/**
 * `realtime`: an utterance is refused with {@link BusyError} when with it none would be spoken as fast as it is heard.
 * `throughput`: it never is.
 */
export type Pace = "realtime" | "throughput";

/** One utterance more would be too many: try again when another is over. */
export class BusyError extends Error {
  override readonly name = "BusyError";
}
