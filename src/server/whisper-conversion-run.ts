import { codeOf } from "../catalogue/pull/pull-error.ts";
import { convertWhisper } from "../recognisers/whisper/convert.ts";
import { WeightsError } from "../tensors/byte-source.ts";
import { answerParent } from "./child-task.ts";
import { messageWithCauses } from "./message-with-causes.ts";
import type { ConversionJob, ConversionResult } from "./whisper-conversion.ts";

answerParent(async ({ from, into }: ConversionJob): Promise<ConversionResult> => {
  try {
    await convertWhisper(from, into);
    return { unfit: null };
  } catch (error) {
    if (codeOf(error) === undefined && error instanceof WeightsError)
      return { unfit: messageWithCauses(error) };
    throw error;
  }
});
