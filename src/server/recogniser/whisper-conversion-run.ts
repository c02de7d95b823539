import { codeOf } from "../../models/download/pull-error.ts";
import { WeightsError } from "../../onnx/byte-source.ts";
import { convertWhisper } from "../../recognition/whisper/convert.ts";
import { answerParent } from "../child-task.ts";
import { messageWithCauses } from "../errors.ts";
import type { ConversionJob, ConversionResult } from "./recogniser-weights.ts";

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
