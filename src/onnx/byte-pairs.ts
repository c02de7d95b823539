/**
 * GPT-2's printable alphabet: one character per byte, itself if printable, otherwise one from U+0100 on (Radford et
 * al., "Language Models are Unsupervised Multitask Learners", 2019; `bytes_to_unicode`).
 */
export const CHARACTER_OF_BYTE: readonly string[] = alphabet();

const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = new Map(
  CHARACTER_OF_BYTE.map((character, byte) => [character, byte]),
);

/** Returns the bytes of a token written in that alphabet; skips other characters. */
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

export interface BytePairs {
  /** Encodes all of the text as text: special tokens in it are not recognised. */
  encode(text: string): number[];
  /** Decodes tokens; invalid UTF-8 becomes U+FFFD. */
  decode(ids: readonly number[]): string;
}

/** A byte-pair vocabulary; tokens are in the alphabet of {@link CHARACTER_OF_BYTE}. */
export interface PairTable {
  idOf(token: string): number | undefined;
  bytesOf(id: number): Iterable<number>;
  /** Returns the rank of a merge; the lowest rank merges first. */
  rankOf(left: string, right: string): number | undefined;
  /** Pattern that splits text before the merges; text between two matches is a piece too. */
  readonly splitPattern: RegExp;
  /** Whether a piece that is a token is used whole even if merges do not lead there (`ignore_merges`). */
  readonly ignoresMerges: boolean;
}

export function bytePairs(table: PairTable): BytePairs {
  return {
    encode: (text) => piecesOf(text, table.splitPattern).flatMap((piece) => encodePiece(piece, table)),
    decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => [...table.bytesOf(id)]))),
  };
}

/**
 * Builds a vocabulary whose merge ranks are its token ids, as in GPT-2 and Whisper.
 *
 * @param tokens text tokens only, in the alphabet of {@link CHARACTER_OF_BYTE}
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
 * Merges all neighbours of the lowest rank, from the left, until none is left. A merge of a new part ranks after that
 * part, so this equals merging one pair at a time.
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
