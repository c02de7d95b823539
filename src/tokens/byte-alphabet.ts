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
