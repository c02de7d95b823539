import type { CodecLanguageModel, Findings, Setup } from "./model.ts";
import type { CheckpointParts } from "./parts.ts";

/** A kind of codec language model that can be run. */
export interface Architecture {
  /** `model_type` in its `config.json`. */
  readonly modelType: string;
  /**
   * What a checkpoint consists of, by its configuration.
   *
   * @throws CheckpointError naming the field that is wrong
   */
  parts(folder: string): Promise<CheckpointParts>;
  /** Looks a folder over, as far as that can be done without loading it. */
  check(folder: string): Promise<Findings>;
  /**
   * @throws CheckpointError, WeightsError or TokenizerError saying what is missing or wrong; the signal's reason
   */
  open(folder: string, setup: Setup): Promise<CodecLanguageModel>;
}
