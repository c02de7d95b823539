import { isGroup, type Piece, type Unit } from "../tagging/analysis.ts";
import type { Following } from "./dictionary.ts";
import type { LexicalWord, PronunciationLexicon } from "./lexicon.ts";
import { CONSONANTS, PRIMARY, stressWeight, VOWELS, withStress } from "./stress.ts";

export type UnknownReading = (text: string) => string;

const STOPS = ";:,.!?—…";
const JUNK = /^[',\-._‘’/]*$/;
/** The longest dictionary entry has seven pieces ("will-o'-the-wisp"); initials may have more. */
const MAX_WINDOW = 24;
/** Larger groups are no words. A smaller window bounds the time for odd texts. */
const MAX_USUAL_GROUP = 48;
const MAX_WINDOW_IN_LARGE_GROUP = 3;

/** Reads units from the last to the first, because "the", "to" and "used" depend on the next sound. */
export function readUnits(
  units: readonly Unit[],
  lexicon: PronunciationLexicon,
  unknown: UnknownReading,
): string[] {
  const spoken: string[] = new Array(units.length);
  let following: Following = { sound: null, to: false };
  for (let i = units.length - 1; i >= 0; i--) {
    const unit = units[i]!;
    if (isGroup(unit)) spoken[i] = readGroup(unit) + (unit.at(-1)?.spaceAfter ? " " : "");
    else {
      const phonemes = unit.given ?? lexicon.read(lexical(unit), following) ?? unknown(unit.text);
      following = followingOf(phonemes, unit.text, unit.tag, following);
      spoken[i] = phonemes + (unit.spaceAfter ? " " : "");
    }
  }
  return spoken;

  /** Reads the longest known word at the end of the group, then before it, and so on: all of the group, or none. */
  function readGroup(pieces: readonly Piece[]): string {
    const read: string[] = new Array(pieces.length).fill("");
    const maxWindow = pieces.length > MAX_USUAL_GROUP ? MAX_WINDOW_IN_LARGE_GROUP : MAX_WINDOW;
    for (let right = pieces.length; right > 0; ) {
      let left = Math.max(0, right - maxWindow);
      for (; left < right; left++) {
        const word = merged(pieces.slice(left, right));
        const phonemes = lexicon.read(word, following);
        if (phonemes === null) continue;
        read[left] = phonemes;
        following = followingOf(phonemes, word.text, word.tag, following);
        break;
      }
      if (left < right) right = left;
      else {
        right--;
        if (!JUNK.test(pieces[right]!.text)) return unknown(pieces.map((piece) => piece.text).join(""));
      }
    }
    return groupStress(pieces, read);
  }
}

const NOT_COUNTED = "',-._‘’/";

/**
 * Joins the phonemes of a group. Pieces of one kind form a word, in which the lighter half of the stressed ones is
 * reduced; letters next to digits or marks stay separate words.
 */
function groupStress(pieces: readonly Piece[], read: readonly string[]): string {
  const text = pieces.map((piece) => piece.text).join("");
  if (isSpaced(text)) return read.filter((phonemes) => phonemes !== "").join(" ");
  const spoken = read.flatMap((phonemes, index) =>
    phonemes === "" ? [] : [{ index, stressed: phonemes.includes(PRIMARY), weight: stressWeight(phonemes) }],
  );
  const lowered = new Set<number>();
  const [, second] = spoken;
  if (
    spoken.length === 2 &&
    second !== undefined &&
    Array.from(pieces[spoken[0]!.index]!.text).length === 1
  ) {
    lowered.add(second.index);
  } else if (spoken.length >= 2) {
    const stressed = spoken.filter((piece) => piece.stressed).length;
    if (stressed > Math.floor((spoken.length + 1) / 2)) {
      spoken.sort(
        (a, b) => Number(a.stressed) - Number(b.stressed) || a.weight - b.weight || a.index - b.index,
      );
      for (const piece of spoken.slice(0, Math.floor(spoken.length / 2))) lowered.add(piece.index);
    }
  }
  return read.map((phonemes, index) => (lowered.has(index) ? withStress(phonemes, -0.5) : phonemes)).join("");
}

function lexical(piece: Piece): LexicalWord {
  const { tag, currency, head, reading } = piece;
  return { text: piece.alias ?? piece.text, tag, currency, head, reading };
}

/** Joins pieces to one word with the tag of the longest, counting capitals twice. */
function merged(pieces: readonly Piece[]): LexicalWord {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return lexical(first);
  let text = "";
  let tag = "";
  let max = -1;
  let currency: string | null = null;
  for (const piece of pieces) {
    text += piece.text;
    let weight = 0;
    for (const character of piece.text) weight += character === character.toLowerCase() ? 1 : 2;
    if (weight > max) {
      max = weight;
      tag = piece.tag;
    }
    if (piece.currency !== null && (currency === null || piece.currency > currency))
      currency = piece.currency;
  }
  return { text, tag, currency, head: first?.head ?? true, reading: null };
}

function followingOf(phonemes: string, text: string, tag: string, following: Following): Following {
  const to = text === "to" || text === "To" || (text === "TO" && (tag === "TO" || tag === "IN"));
  let sound = following.sound;
  for (const phoneme of phonemes) {
    if (STOPS.includes(phoneme)) sound = null;
    else if (VOWELS.has(phoneme)) sound = "vowel";
    else if (CONSONANTS.has(phoneme)) sound = "consonant";
    else continue;
    break;
  }
  return { sound, to };
}

function isSpaced(text: string): boolean {
  const kinds = new Set<"letter" | "digit" | "other">();
  for (const character of text) {
    if (character === " " || character === "/") return true;
    if (NOT_COUNTED.includes(character)) continue;
    kinds.add(/\p{L}/u.test(character) ? "letter" : /[0-9]/.test(character) ? "digit" : "other");
  }
  return kinds.size > 1;
}
