import type { HeardSegment } from "./recogniser.ts";

/** A segment and its words, so many seconds later: what was heard of a stretch, with the times of the whole clip. */
export function movedSegment(segment: HeardSegment, byS: number): HeardSegment {
  const later = <T extends { readonly startS: number; readonly endS: number }>(of: T): T => ({
    ...of,
    startS: of.startS + byS,
    endS: of.endS + byS,
  });
  return { ...later(segment), words: segment.words?.map(later) ?? null };
}
