import { fileURLToPath } from "node:url";
import { type Conversion, UnfitWeightsError } from "../catalogue/recognisers/pull-recogniser.ts";
import { FORMAT } from "../recognisers/whisper/description.ts";
import { type ChildProblem, inChild } from "./child-task.ts";

/** A Whisper model as others publish it, and where ours goes. */
export interface Converting {
  readonly from: string;
  readonly into: string;
}

/** How a conversion ended. */
export type ConversionEnd =
  | { readonly made: true }
  /** `isUnfit` when the weights are at fault. */
  | (ChildProblem & { readonly isUnfit?: boolean });

/** Makes our two graphs of a Whisper model: some seconds and 370 MB for the base one, in a process of its own. */
export const WHISPER_CONVERSION: Conversion = {
  version: FORMAT,
  async convert(from, into, signal) {
    signal.throwIfAborted();
    const end = await inChild<ConversionEnd>(RUN, { from, into } satisfies Converting, "converts", signal);
    signal.throwIfAborted();
    if ("made" in end) return;
    if ("isUnfit" in end && end.isUnfit === true) throw new UnfitWeightsError(end.problem);
    throw Object.assign(new Error(end.problem), end.code === undefined ? {} : { code: end.code });
  },
};

const RUN = fileURLToPath(new URL("./whisper-conversion-run.js", import.meta.url));
