import { characterCount, isSpaceCode } from "../characters.ts";
import type { TextTables } from "../tables/tables.ts";

/** The acoustic model's ids of a clause, between two 0; phonemes that it does not know are left out. */
export function phonemeIds(phonemes: string, tables: Pick<TextTables, "vocabulary">): number[] {
  const ids = [0];
  for (const phoneme of phonemes) {
    const id = tables.vocabulary.get(phoneme);
    if (id !== undefined) ids.push(id);
  }
  ids.push(0);
  return ids;
}

/**
 * Cuts the phonemes of a sentence into clauses of at most `limit` phonemes, after `, ; : —`. A longer run without
 * any of these stays whole, unless it is longer than `hardLimit`: then it is cut at a space, or anywhere.
 */
export function splitClauses(phonemes: string, limit = 400, hardLimit = Number.POSITIVE_INFINITY): string[] {
  if (phonemes === "") return [];
  if (characterCount(phonemes) <= Math.min(limit, hardLimit)) return [phonemes];
  const clauses: string[] = [];
  let clause = "";
  for (const part of partsOf(phonemes)) {
    if (clause !== "" && clause.length + 1 + part.length > limit) {
      clauses.push(clause);
      clause = "";
    }
    clause = clause === "" ? part : `${clause} ${part}`;
  }
  if (clause !== "") clauses.push(clause);
  return clauses.flatMap((long) => cut(long, hardLimit));
}

/**
 * The phonemes of a sentence with the mark that ends it, where its reading has lost it to an abbreviation ("5 p.m."):
 * without a mark the voice does not fall.
 */
export function withClosingStop(phonemes: string, sentence: string): string {
  if (phonemes === "") return "";
  const mark = lastBeforeClosing(sentence);
  const spoken = lastBeforeClosing(phonemes);
  return ".!?…".includes(mark) && !";:,.!?—…".includes(spoken) ? phonemes + mark : phonemes;
}

function partsOf(phonemes: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 1; at < phonemes.length; at++) {
    if (!isSpaceCode(phonemes.charCodeAt(at)) || !",;:—".includes(phonemes.charAt(at - 1))) continue;
    parts.push(phonemes.slice(start, at));
    while (at < phonemes.length && isSpaceCode(phonemes.charCodeAt(at))) at++;
    start = at;
  }
  parts.push(phonemes.slice(start));
  return parts;
}

function cut(clause: string, limit: number): string[] {
  const pieces: string[] = [];
  let rest = clause;
  while (rest.length > limit) {
    const space = rest.lastIndexOf(" ", limit);
    const at = space > 0 ? space : limit;
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  if (rest !== "") pieces.push(rest);
  return pieces;
}

/** The last character that is neither a space nor a closing quote or bracket. */
function lastBeforeClosing(text: string): string {
  let end = text.length;
  while (end > 0 && (isSpaceCode(text.charCodeAt(end - 1)) || "\"”’')]".includes(text.charAt(end - 1))))
    end--;
  return text.charAt(Math.max(0, end - 1));
}
