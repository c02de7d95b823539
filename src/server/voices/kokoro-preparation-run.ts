import { areConverted, convertGraphs } from "../../engines/kokoro/graphs/convert.ts";
import { measureVoices } from "../../engines/kokoro/ready-voices.ts";
import { answerParent } from "../child-task.ts";
import type { KokoroPreparation } from "./kokoro-preparation.ts";

answerParent(async ({ folder, voiceDir, voices }: KokoroPreparation): Promise<null> => {
  if (!(await areConverted(folder, new AbortController().signal))) await convertGraphs(folder);
  await measureVoices(folder, voiceDir, voices);
  return null;
});
