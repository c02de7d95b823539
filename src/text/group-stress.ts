import type { Piece } from "./analysis.ts";
import { PRIMARY, stressWeight, withStress } from "./stress.ts";

const NOT_COUNTED = "',-._‘’/";

/**
 * Joins the phonemes of a group's pieces (`read`, "" for silent ones). Pieces of one kind are one word, in which the
 * lighter half of the stressed ones gives way; letters beside digits or marks are words apart.
 */
export function groupStress(pieces: readonly Piece[], read: readonly string[]): string {
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

function isSpaced(text: string): boolean {
  const kinds = new Set<"letter" | "digit" | "other">();
  for (const character of text) {
    if (character === " " || character === "/") return true;
    if (NOT_COUNTED.includes(character)) continue;
    kinds.add(/\p{L}/u.test(character) ? "letter" : /[0-9]/.test(character) ? "digit" : "other");
  }
  return kinds.size > 1;
}
