import type { Turn } from "../../model/conversation.ts";
import type { Dialogue } from "../../model/writer.ts";
import { otherLanguageOf } from "../../text/other-language.ts";
import { contentWords } from "./content-words.ts";
import type { Origin } from "./reckoning.ts";
import type { Talk } from "./talk.ts";
import { isAsked } from "./turn-form.ts";

/** Which replies that are ready may be said before a language model writes. */
export interface Sources {
  /** Whether what can be worked out is, and what was told in the conversation said back. */
  readonly exact: boolean;
  /** The kinds of turns that a line may answer; `null` is all of them, and what has a tone only. */
  readonly lines: ReadonlySet<string> | null;
  /** Whether replies of other conversations are looked for: to every turn, or to questions that stand alone. */
  readonly found: "all" | "alone" | "none";
}

/** Before a model that is right too seldom. */
export const ALL_SOURCES: Sources = { exact: true, lines: null, found: "all" };

/** Before one that is right more often than a line which only asks to hear more, and knows less than it says. */
export const SOME_SOURCES: Sources = {
  exact: true,
  lines: new Set(["unheard", "garbled", "identity", "time", "weather-now", "live", "see", "cannot-do"]),
  found: "alone",
};

/** Before one that writes better than whoever has a reply ready, and reckons worse. */
export const FEW_SOURCES: Sources = { exact: true, lines: new Set(["identity"]), found: "none" };

const NO_SOURCES: Sources = { exact: false, lines: new Set(), found: "none" };

/**
 * What stands before a model of so many parameters, as its replies were judged; `null` is one that is not here, and
 * mostly large.
 */
export function sourcesBefore(parameters: number | null): Sources {
  if (parameters === null || parameters > MIDDLE_PARAMETERS) return FEW_SOURCES;
  return parameters > SMALL_PARAMETERS ? SOME_SOURCES : ALL_SOURCES;
}

/** Half a billion was no better than the small model; up to two a few sources made it so; from three on it is guessed. */
const SMALL_PARAMETERS = 0.5e9;
const MIDDLE_PARAMETERS = 2.5e9;

/** Whether the kind of a turn needs to be guessed, and not only told by its form. */
export function guesses({ lines, found }: Sources): boolean {
  return found !== "none" || lines === null || lines.size > 1;
}

/** A model that reads instructions, as far as a choice of sources depends on it. */
interface Instructable {
  /** Whether an operator told it what to be: a desk has tables to give away. */
  readonly isInstructed: boolean;
  readonly callsTools: boolean;
}

/** The sources for one dialogue: fewer where the model was told something that they know nothing of. */
export function sourcesFor(
  before: Sources,
  { instructions, toolUse, history }: Dialogue,
  model: Instructable,
): Sources {
  // Who may call functions is asked for what they do.
  if (toolUse !== undefined && model.callsTools) return NO_SOURCES;
  // All that is ready is English.
  if (!isEnglish(history)) return NO_SOURCES;
  const isTold = model.isInstructed || (instructions ?? "").trim() !== "";
  return isTold ? FEW_SOURCES : before;
}

/** Whether a conversation is in English, as far as can be told: by its newest words, and with those a few turns before. */
export function isEnglish(history: readonly Turn[], written = ""): boolean {
  const texts = history.slice(-NEWEST_TURNS).map(({ text }) => text ?? "");
  const newest = `${texts.at(-1) ?? ""}\n${written}`;
  return [newest, [...texts, written].join("\n")].every((text) => otherLanguageOf(text) === null);
}

const NEWEST_TURNS = 4;

/** Whether a line may answer a turn of this kind. */
export function answers({ lines }: Sources, act: string): boolean {
  return lines?.has(act) ?? true;
}

/** Something that might be said. */
interface Offered {
  readonly origin: Origin;
  readonly nearness: number;
  /** The kind that the turn is taken for. */
  readonly act: string;
  /** Whether somebody plays a part, or serves. */
  readonly isScene: boolean;
}

/** Whether this may be said to a turn. */
export function mayOffer(sources: Sources, { origin, nearness, act, isScene }: Offered, talk: Talk): boolean {
  if (sources.lines === null) return true;
  if (origin === "form") return answers(sources, act);
  if (origin === "corrected") return sources.exact;
  return origin === "found" && sources.found === "alone" && nearness >= NEAR && !isScene && standsAlone(talk);
}

/** How like the turn that it answered a reply's turn is where it was judged to be better than the model's. */
const NEAR = 0.76;

/** Whether a turn asks for something, and says by itself what it is about. */
export function standsAlone({ newest }: Pick<Talk, "newest">): boolean {
  const isSelfContained = contentWords(newest ?? "").size >= 2;
  return isSelfContained && isAsked(newest) && !LEANS.test(newest ?? "");
}

/** What goes on from something said before: "And which is the smallest?", "What does it cost?" */
const LEANS =
  /^(?:and|but|so|or|then|also|what about|how about)\b|\b(?:it|its|it['’]s|they|them|their|he|him|his|she|her|those|these|this|that|that['’]s)\b|(?<!\b(?:is|are|was|were) )\bthere\b/i;
