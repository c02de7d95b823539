import { ServiceError } from "../contract/errors.ts";
import type { InputType } from "../contract/input-type.ts";
import { type MarkedText, spokenText, type TextPiece } from "../model/marked-text.ts";
import { inlineFault } from "../text/inline-phonemes.ts";
import { type FindVoice, MarkupError } from "../text/markup.ts";
import { readMarks } from "../text/read-marks.ts";
import { type Cast, chooseVoice, unknownVoice } from "./choose-voice.ts";

/** A text whose marks have been read. */
export interface ReadText {
  readonly piece: TextPiece;
  /** Code points of it that count as input: those of words, not of marks. */
  readonly chars: number;
  /** What its marks ask for and is not done, each in a few words. */
  readonly cautions: readonly string[];
}

/**
 * Reads the marks of a text that is to be spoken: SSML, pauses, phonemes. Throws a 400 {@link ServiceError} that names the
 * field, and the place where there is one.
 *
 * @param field what messages call the text
 * @param cast of the model that speaks; `null` where that is not known
 */
export function readMarkup(text: string, field: string, cast: Cast | null, inputType?: InputType): ReadText {
  const isSsml = inputType === undefined ? null : inputType === "ssml";
  try {
    const { piece, spokenChars, cautions } = readMarks(
      text,
      isSsml,
      cast === null ? noVoice : voicesOf(cast),
    );
    const fault = inlineFault(spokenText(piece));
    if (fault !== null) throw new ServiceError(400, `${field}: ${fault}`, { param: field });
    return {
      piece,
      chars: spokenChars,
      cautions: cast === null ? cautions : [...cautions, ...notDone(piece, cast)],
    };
  } catch (error) {
    if (!(error instanceof MarkupError)) throw error;
    throw new ServiceError(400, `${field}: ${error.message}`, { param: field });
  }
}

/** The words of an earlier turn without its marks: a text that cannot be read stays as it is, since nobody speaks it. */
export function wordsOf(text: string): string {
  const piece = leniently(text, null);
  return typeof piece === "string" ? piece : spokenText(piece).trim();
}

/** Words as a writer gave them, with their pauses: what cannot be refused any more is spoken as it is. */
export function writtenPiece(text: string): TextPiece {
  return leniently(text, false);
}

function leniently(text: string, isSsml: false | null): TextPiece {
  try {
    return readMarks(text, isSsml, (name) => name).piece;
  } catch (error) {
    if (error instanceof MarkupError) return text;
    throw error;
  }
}

/** One of the model's own voices by a name that a text has for it: who is heard elsewhere cannot be brought into the middle. */
function voicesOf(cast: Cast): FindVoice {
  return (word) => {
    const { voice, speaker } = chooseVoice(word, "voice", cast);
    const [part] = voice ?? [];
    if (voice?.length === 1 && part !== undefined && "id" in part) return part.id;
    if (speaker !== undefined) return speaker;
    throw unknownVoice({ name: word, field: "voice" }, cast);
  };
}

const noVoice: FindVoice = () => {
  throw new Error("a text that comes in pieces cannot name a voice: name it for all of the text");
};

/** What a model does nothing for, of what a text asks for. */
function notDone(piece: TextPiece, { id, takes }: Cast): string[] {
  if (typeof piece === "string" || takes.marks === true) return [];
  const asked = KINDS.flatMap(([kind, isAsked]) => (isAsked(piece) ? [kind] : []));
  return asked.length === 0 ? [] : [`the model ${id} does not follow ${asked.join(", ")}`];
}

const KINDS: readonly (readonly [string, (text: MarkedText) => boolean])[] = [
  ["marks", ({ points }) => points.some((point) => "mark" in point)],
  ["prosody and emphasis", ({ runs }) => runs.some(({ voice }) => voice === null)],
  ["voices within a text", ({ runs }) => runs.some(({ voice }) => voice !== null)],
];

/** What is not done, for a header: cautions with semicolons between them, in ASCII. `null` where all is done. */
export function cautionsTold({ cautions = [] }: { readonly cautions?: readonly string[] }): string | null {
  return cautions.length === 0
    ? null
    : cautions
        .join("; ")
        .replaceAll(/[^\x20-\x7e]/g, "?")
        .slice(0, MAX_HEADER_CHARS);
}

const MAX_HEADER_CHARS = 1_000;
