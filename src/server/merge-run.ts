import { codeOf, messageOf } from "../catalogue/pull/pull-error.ts";
import { type Merging, mergeAdapter } from "../writers/gguf/merge-adapter.ts";
import { answerParent } from "./child-task.ts";
import { inFull } from "./in-full.ts";
import type { MergeEnd } from "./merge-process.ts";

answerParent((merging: Merging): MergeEnd => {
  try {
    return { sha256: mergeAdapter(merging) };
  } catch (error) {
    const code = codeOf(error);
    return code === undefined ? { problem: inFull(error) } : { problem: messageOf(error), code };
  }
});
