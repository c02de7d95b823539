import type { Dialogue } from "../../model/writer.ts";
import { contentWords } from "../heard/content-words.ts";
import { isEnglish } from "../heard/english.ts";
import { FORM_ACTS, isAsked } from "../heard/turn-form.ts";
import type { RankedOffer } from "./offers.ts";
import type { Talk } from "./talk.ts";

/** Which replies that are ready may be said before a language model writes. */
export interface Layers {
  /** Whether what can be worked out is, and what was told in the conversation said back. */
  readonly exact: boolean;
  /** The kinds of turns that a line may answer; `null` is all of them, and what has a tone only. */
  readonly lines: ReadonlySet<string> | null;
  /** Whether replies of other conversations are looked for: to every turn, or to questions that stand alone. */
  readonly found: "all" | "alone" | "none";
  /** Whether they are weighed against what the model writes, as was learnt for the small one. */
  readonly areReckoned: boolean;
}

/** Before a model that is right too seldom. */
export const ALL_LAYERS: Layers = { exact: true, lines: null, found: "all", areReckoned: true };

/** Before one that is right more often than a line which only asks to hear more, and knows less than it says. */
export const SOME_LAYERS: Layers = {
  exact: true,
  lines: new Set(["unheard", "garbled", "identity", "time", "weather-now", "live", "see", "cannot-do"]),
  found: "alone",
  areReckoned: false,
};

/** Before one that writes better than whoever has a reply ready, and reckons worse. */
export const FEW_LAYERS: Layers = {
  exact: true,
  lines: new Set(["identity"]),
  found: "none",
  areReckoned: false,
};

const NO_LAYERS: Layers = { exact: false, lines: new Set(), found: "none", areReckoned: false };

/**
 * What stands before a model of so many parameters, as its replies were judged; `null` is one that is not here, and
 * mostly large.
 */
export function layersBefore(parameters: number | null): Layers {
  if (parameters === null || parameters > MIDDLE_PARAMETERS) return FEW_LAYERS;
  return parameters > SMALL_PARAMETERS ? SOME_LAYERS : ALL_LAYERS;
}

/** Half a billion was no better than the small model; up to two a few of these made it so; from three on it is guessed. */
const SMALL_PARAMETERS = 0.5e9;
const MIDDLE_PARAMETERS = 2.5e9;

/** Whether the kind of a turn needs to be guessed, and not only told by its form. */
export function guesses({ lines, found }: Layers): boolean {
  return found !== "none" || lines === null || [...lines].some((act) => !FORM_ACTS.has(act));
}

/** A model that reads instructions, as far as a choice of layers depends on it. */
interface Instructable {
  /** Whether an operator told it what to be: a desk has tables to give away. */
  readonly isInstructed: boolean;
  readonly callsTools: boolean;
}

/** The layers before it for one dialogue: fewer where the model was told something that they know nothing of. */
export function layersFor(
  before: Layers,
  { instructions, toolUse, history }: Dialogue,
  model: Instructable,
): Layers {
  // Who may call functions is asked for what they do.
  if (toolUse !== undefined && model.callsTools) return NO_LAYERS;
  // All that is ready is English.
  if (!isEnglish(history)) return NO_LAYERS;
  const isTold = model.isInstructed || (instructions ?? "").trim() !== "";
  return isTold ? FEW_LAYERS : before;
}

/** Whether a line may answer a turn of this kind. */
export function answers({ lines }: Layers, act: string): boolean {
  return lines?.has(act) ?? true;
}

/** Whether this may be said to a turn. */
export function mayOffer(
  layers: Layers,
  { origin, nearness, act, isScene }: RankedOffer,
  talk: Talk,
): boolean {
  if (layers.areReckoned) return true;
  if (origin === "form") return answers(layers, act);
  if (origin === "corrected") return layers.exact;
  return origin === "found" && layers.found === "alone" && nearness >= NEAR && !isScene && standsAlone(talk);
}

/** How like the turn that it answered a reply's turn is where it was judged to be better than the model's. */
const NEAR = 0.76;

/** Whether a turn asks for something, and says by itself what it is about. */
function standsAlone({ newest }: Pick<Talk, "newest">): boolean {
  const isSelfContained = contentWords(newest ?? "").size >= 2;
  return isSelfContained && isAsked(newest) && !LEANS.test(newest ?? "");
}

/** What goes on from something said before: "And which is the smallest?", "What does it cost?" */
const LEANS =
  /^(?:and|but|so|or|then|also|what about|how about)\b|\b(?:it|its|it['’]s|they|them|their|he|him|his|she|her|those|these|this|that|that['’]s)\b|(?<!\b(?:is|are|was|were) )\bthere\b/i;
