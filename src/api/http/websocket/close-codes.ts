/** Codes with which WebSockets are closed (RFC 6455, and 1013 of the IANA registry). */
export const CLOSE_CODES = {
  normal: 1_000,
  goingAway: 1_001,
  invalid: 1_007,
  policy: 1_008,
  failure: 1_011,
  tryLater: 1_013,
} as const;

/** A reason has at most 123 bytes. */
const MAX_REASON_BYTES = 120;

/** Returns a sentence as the reason of a close: printable ASCII, cut to what fits. */
export function closeReason(sentence: string): string {
  return sentence.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, MAX_REASON_BYTES);
}
