import { makeFiles } from "../engines/kokoro/graphs/make-files.ts";
import { answerParent } from "./child-task.ts";
import type { KokoroPreparation } from "./kokoro-preparation.ts";

answerParent(async ({ folder }: KokoroPreparation): Promise<null> => {
  await makeFiles(folder);
  return null;
});
