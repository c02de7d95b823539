import { mergeAdapter } from "../writers/gguf/merge-adapter.ts";
import { answerParent } from "./child-task.ts";

answerParent(mergeAdapter);
