/**
 * Unusable command line arguments, or an unusable file named by them: exit code 2. One plain sentence with the
 * remedy.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Returns an error's message followed by those of its causes. */
export function messageWithCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${messageWithCauses(error.cause)})`;
}
