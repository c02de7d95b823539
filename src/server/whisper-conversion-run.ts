import { codeOf, messageOf } from "../catalogue/pull/pull-error.ts";
import { convertWhisper } from "../recognisers/whisper/convert.ts";
import { WeightsError } from "../tensors/byte-source.ts";
import { answerParent } from "./child-task.ts";
import { inFull } from "./in-full.ts";
import type { ConversionEnd, Converting } from "./whisper-conversion.ts";

answerParent(async ({ from, into }: Converting): Promise<ConversionEnd> => {
  try {
    await convertWhisper(from, into);
    return { made: true };
  } catch (error) {
    const code = codeOf(error);
    if (code !== undefined) return { problem: messageOf(error), code };
    return { problem: inFull(error), isUnfit: error instanceof WeightsError };
  }
});
