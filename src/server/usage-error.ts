/** What the command line or a file that it names cannot be used for: exit code 2. One plain sentence with the remedy. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
