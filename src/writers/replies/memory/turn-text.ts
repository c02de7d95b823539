/** Characters; longer turns are read out, or pasted. */
export const MAX_TURN_CHARS = 1500;

/** A text with plain apostrophes, and single blanks between its words alone. */
export function plain(text: string): string {
  return text.replaceAll("’", "'").replaceAll(/\s+/g, " ").trim();
}
