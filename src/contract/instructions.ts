import Type from "typebox";
import { MAX_INSTRUCTIONS_CHARS } from "./limits.ts";

/** The field `instructions` of conversations: an extension. That it is over its cap is told with 400. */
export const Instructions = Type.String({
  description:
    "Extension: what the writer of an authored turn is to keep to, as in `You are Ann, at the desk of the Green Fork.` " +
    `At most ${MAX_INSTRUCTIONS_CHARS} characters; not billed. \`meta.writer.instructions\` says what became of them: ` +
    "`read`, or `ignored` by a writer that takes none and where the safety gate answered. Where the open turn has its " +
    "own text nothing is written, and they do nothing.",
});
