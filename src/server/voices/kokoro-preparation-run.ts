import { constants, setPriority } from "node:os";
import { areMade, makeFiles } from "../../engines/kokoro/graphs/make-files.ts";
import { measureVoices } from "../../engines/kokoro/measure-voices.ts";
import { answerParent } from "../child-task.ts";
import type { KokoroPreparation } from "./kokoro-preparation.ts";

answerParent(async ({ folder, voiceDir, voices, isPatient }: KokoroPreparation): Promise<null> => {
  if (isPatient) setPriority(constants.priority.PRIORITY_LOW);
  if (!(await areMade(folder, new AbortController().signal))) await makeFiles(folder);
  await measureVoices(folder, voiceDir, voices);
  return null;
});
