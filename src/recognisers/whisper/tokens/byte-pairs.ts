import { bytesOfToken, CHARACTER_OF_BYTE } from "./byte-alphabet.ts";

/** Text to tokens and back. */
export interface BytePairs {
  encode(text: string): number[];
  /** Bytes that are no text become U+FFFD. */
  decode(ids: readonly number[]): string;
}

/**
 * Byte pairs by a list of tokens whose order is that in which they were learnt: of two neighbours that make up a token,
 * those go together first whose token has the lowest id.
 *
 * @param tokens text tokens alone, in {@link CHARACTER_OF_BYTE}'s alphabet
 */
export function bytePairs(tokens: readonly string[]): BytePairs {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  return {
    encode: (text) => (text.match(PIECES) ?? []).flatMap((piece) => encodePiece(piece, ids)),
    decode: (list) =>
      new TextDecoder().decode(Uint8Array.from(list.flatMap((id) => bytesOfToken(tokens[id] ?? "")))),
  };
}

/** Within which bytes are paired: GPT-2's pattern. */
const PIECES = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** Beyond it pairing, which takes the square of the length, is cut: no word is so long. */
const LONGEST_PIECE = 256;

function encodePiece(piece: string, ids: ReadonlyMap<string, number>): number[] {
  const characters = Array.from(new TextEncoder().encode(piece), (byte) => CHARACTER_OF_BYTE[byte]!);
  const found: number[] = [];
  for (let from = 0; from < characters.length; from += LONGEST_PIECE) {
    found.push(...paired(characters.slice(from, from + LONGEST_PIECE), ids));
  }
  return found;
}

function paired(parts: string[], ids: ReadonlyMap<string, number>): number[] {
  for (;;) {
    let best = -1;
    let lowest = Number.POSITIVE_INFINITY;
    for (let at = 0; at + 1 < parts.length; at++) {
      const id = ids.get(parts[at]! + parts[at + 1]!) ?? Number.POSITIVE_INFINITY;
      if (id < lowest) [lowest, best] = [id, at];
    }
    if (best < 0) return parts.flatMap((part) => ids.get(part) ?? []);
    parts.splice(best, 2, parts[best]! + parts[best + 1]!);
  }
}
