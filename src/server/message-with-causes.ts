/** What an error says, and what its causes do. */
export function messageWithCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${messageWithCauses(error.cause)})`;
}
