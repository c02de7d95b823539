import { type Conversion, UnfitWeightsError } from "../../models/recognisers/pull-recogniser.ts";
import { FORMAT } from "../../recognition/whisper/description.ts";
import { runInChild } from "../child-task.ts";

/** A Whisper model as others publish it, and where ours goes. */
export interface ConversionJob {
  readonly from: string;
  readonly into: string;
}

/** How a conversion ended: what was wrong with the weights, or null. */
export interface ConversionResult {
  readonly unfit: string | null;
}

/** Makes our two graphs of a Whisper model: some seconds and 370 MB for the base one, in a process of its own. */
export const WHISPER_CONVERSION: Conversion = {
  version: FORMAT,
  async convert(from, into, signal) {
    const converting: ConversionJob = { from, into };
    const { unfit } = await runInChild<ConversionResult>(CONVERSION_RUN, converting, "converts", signal);
    if (unfit !== null) throw new UnfitWeightsError(unfit);
  },
};

const CONVERSION_RUN = new URL("./whisper-conversion-run.js", import.meta.url);
