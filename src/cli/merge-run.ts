import { codeOf, messageOf } from "../catalogue/pull/pull-error.ts";
import { type Merging, mergeAdapter } from "../writers/gguf/merge-adapter.ts";
import { inFull } from "./in-full.ts";
import type { MergeEnd } from "./merge-process.ts";

process.once("message", (merging: Merging) => {
  process.send?.(endOf(merging), () => process.disconnect());
});

function endOf(merging: Merging): MergeEnd {
  try {
    return { sha256: mergeAdapter(merging) };
  } catch (error) {
    const code = codeOf(error);
    return code === undefined ? { problem: inFull(error) } : { problem: messageOf(error), code };
  }
}
