/** Kinds of files that can be read. */
export type RecordingKind = "wav";

/** What the first bytes of a file tell: a kind that can be read, or the name of one that cannot; `null` is neither. */
export function recordingKind(
  bytes: Uint8Array,
): { readonly kind: RecordingKind } | { readonly refused: string } | null {
  const starts = (characters: string, at = 0): boolean =>
    at + characters.length <= bytes.length &&
    [...characters].every((character, index) => bytes[at + index] === character.charCodeAt(0));
  if (starts("RIFF") || starts("RIFX") || starts("RF64")) return { kind: "wav" };
  if (starts("ftyp", 4)) return { refused: "MP4 or M4A, which cannot be read" };
  return null;
}
