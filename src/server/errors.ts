/** What the command line or a file that it names cannot be used for: exit code 2. One plain sentence with the remedy. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What an error says, and what its causes do. */
export function messageWithCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${messageWithCauses(error.cause)})`;
}
