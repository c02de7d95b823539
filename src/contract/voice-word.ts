import { ServiceError } from "./errors.ts";
import { quoted } from "./quoted.ts";
import { MAX_VOICE_CHARS } from "./voices.ts";

/** A voice that a request names, and its share where there are several. */
export interface NamedPart {
  /** As it is written, without space around it. */
  readonly name: string;
  /** From 0.001 to 1000. */
  readonly weight: number;
}

/** Voices in a mix, at most. */
const MAX_PARTS = 8;
/** The least and the largest weight: a smaller share than that is not heard, and could round to none. */
const MIN_WEIGHT = 0.001;
const MAX_WEIGHT = 1_000;

/**
 * Reads a `voice`: a name, or several with `+` between them, each with its weight in brackets where that is not 1. What the
 * names mean is another matter. Throws a 400 {@link ServiceError} for a mix that cannot be read.
 *
 * @param field what messages call it
 * @returns at least one
 */
export function readVoiceWord(word: string, field: string): readonly NamedPart[] {
  if (word.length > MAX_VOICE_CHARS) {
    throw wrong(field, `has ${word.length} characters, and at most ${MAX_VOICE_CHARS} are allowed`);
  }
  if (!/[+()]/.test(word)) return [{ name: word.trim(), weight: 1 }];
  const parts = word.split("+");
  if (parts.length > MAX_PARTS) {
    throw wrong(field, `mixes ${parts.length} voices, and at most ${MAX_PARTS} can be: name fewer`);
  }
  return parts.map((part) => partOf(part, word, field));
}

const PART = /^([^()]*)(?:\(([^()]*)\))?$/;

function partOf(part: string, word: string, field: string): NamedPart {
  const [isPart, written = "", weight] = PART.exec(part.trim()) ?? [];
  const name = written.trim();
  if (isPart === undefined) throw wrong(field, `${quoted(word)} cannot be read: ${HOW}`);
  if (name === "") throw wrong(field, `${quoted(word)} has a part without a name: ${HOW}`);
  return { name, weight: weight === undefined ? 1 : weightOf(weight, field) };
}

function weightOf(written: string, field: string): number {
  const weight = /^\s*(?:\d+\.?\d*|\.\d+)\s*$/.test(written) ? Number(written) : Number.NaN;
  if (weight >= MIN_WEIGHT && weight <= MAX_WEIGHT) return weight;
  throw wrong(
    field,
    `has the weight ${quoted(written)}: a weight is a number from ${MIN_WEIGHT} to ${MAX_WEIGHT}`,
  );
}

const HOW = "write a mix as in nova(2)+onyx(1)";

function wrong(field: string, what: string): ServiceError {
  return new ServiceError(400, `${field} ${what}`, { param: field });
}
