/** Whether a text has at least one letter or number of any script, so that there is something to say. */
export function hasSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
