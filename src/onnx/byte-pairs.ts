/**
 * GPT-2's printable alphabet: each byte as one character, itself where it can be seen, else one from U+0100 on
 * (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019; `bytes_to_unicode` of its code).
 */
export const CHARACTER_OF_BYTE: readonly string[] = alphabet();

const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = new Map(
  CHARACTER_OF_BYTE.map((character, byte) => [character, byte]),
);

/** The bytes of a token that is written in it; characters that are not in it are left out. */
export function bytesOfToken(token: string): number[] {
  return Array.from(token).flatMap((character) => BYTE_OF_CHARACTER.get(character) ?? []);
}

function alphabet(): string[] {
  let unseen = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    const isSeen = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCodePoint(isSeen ? byte : 256 + unseen++);
  });
}

/** Text to tokens and back. */
export interface BytePairs {
  /** All of the text is text: what looks like a special token in it is none. */
  encode(text: string): number[];
  /** Bytes that are no text become U+FFFD. */
  decode(ids: readonly number[]): string;
}

/** What byte pairs go together, and into which tokens; those in {@link CHARACTER_OF_BYTE}'s alphabet. */
export interface PairTable {
  idOf(token: string): number | undefined;
  /** The bytes that a token stands for. */
  bytesOf(id: number): Iterable<number>;
  /** Of two neighbours that make up a token, those of the lowest rank go together first. */
  rankOf(left: string, right: string): number | undefined;
  /** Within what it matches bytes are paired; what lies between two matches is a piece too. */
  readonly splitPattern: RegExp;
  /** Whether a piece that is a token is taken whole, also where pairing does not lead there (`ignore_merges`). */
  readonly ignoresMerges: boolean;
}

export function bytePairs(table: PairTable): BytePairs {
  return {
    encode: (text) => piecesOf(text, table.splitPattern).flatMap((piece) => encodePiece(piece, table)),
    decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => [...table.bytesOf(id)]))),
  };
}

/**
 * Byte pairs by a list of tokens whose order is that in which they were learnt, as GPT-2 and Whisper have it.
 *
 * @param tokens text tokens alone, in {@link CHARACTER_OF_BYTE}'s alphabet
 */
export function rankedByOrder(tokens: readonly string[]): PairTable {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  return {
    idOf: (token) => ids.get(token),
    bytesOf: (id) => bytesOfToken(tokens[id] ?? ""),
    rankOf: (left, right) => ids.get(left + right),
    splitPattern: GPT2_SPLIT,
    ignoresMerges: false,
  };
}

/** GPT-2's pattern. */
export const GPT2_SPLIT = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

function piecesOf(text: string, pattern: RegExp): string[] {
  const pieces: string[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) pieces.push(text.slice(end, match.index));
    if (match[0] !== "") pieces.push(match[0]);
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

function encodePiece(piece: string, table: PairTable): number[] {
  const characters = Array.from(new TextEncoder().encode(piece), (byte) => CHARACTER_OF_BYTE[byte]!);
  const whole = table.ignoresMerges ? table.idOf(characters.join("")) : undefined;
  return whole === undefined ? paired(characters, table).flatMap((part) => table.idOf(part) ?? []) : [whole];
}

/**
 * Joins, as long as there are any, all neighbours of the lowest rank, from the left. A pair that has a new part in it
 * was learnt after that part and ranks behind it, so that this gives what joining them one at a time would.
 */
function paired(characters: readonly string[], { rankOf }: PairTable): readonly string[] {
  let parts = characters;
  for (;;) {
    let minRank = Number.POSITIVE_INFINITY;
    let pair: readonly [left: string, right: string] | null = null;
    for (let at = 0; at + 1 < parts.length; at++) {
      const rank = rankOf(parts[at]!, parts[at + 1]!) ?? Number.POSITIVE_INFINITY;
      if (rank < minRank) {
        minRank = rank;
        pair = [parts[at]!, parts[at + 1]!];
      }
    }
    if (pair === null) return parts;
    parts = joined(parts, pair);
  }
}

function joined(parts: readonly string[], [left, right]: readonly [string, string]): string[] {
  const next: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const isPair = parts[at] === left && parts[at + 1] === right;
    next.push(isPair ? left + right : parts[at]!);
    if (isPair) at++;
  }
  return next;
}
