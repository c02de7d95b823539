import { codeOf } from "../catalogue/pull/pull-error.ts";
import { convertWhisper } from "../recognisers/whisper/convert.ts";
import { WeightsError } from "../tensors/byte-source.ts";
import { answerParent } from "./child-task.ts";
import { inFull } from "./in-full.ts";
import type { Converted, Converting } from "./whisper-conversion.ts";

answerParent(async ({ from, into }: Converting): Promise<Converted> => {
  try {
    await convertWhisper(from, into);
    return { unfit: null };
  } catch (error) {
    if (codeOf(error) === undefined && error instanceof WeightsError) return { unfit: inFull(error) };
    throw error;
  }
});
