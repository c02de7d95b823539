/** A pull that came to nothing. The message is one or two plain sentences with the remedy. */
export class PullError extends Error {
  override readonly name = "PullError";
}

/** One source cannot give the file; another may. The message completes "the source: …". */
export class SourceError extends Error {
  override readonly name = "SourceError";
  /** Whether the same source may do better in a moment. */
  readonly isTransient: boolean;
  /** When it asked to be tried again, in milliseconds from now; `null` where it did not say. */
  readonly retryAfterMs: number | null;
  /** The status that it answered with, where that was the trouble. */
  readonly status: number | null;

  constructor(
    message: string,
    options: ErrorOptions & { isPassing?: boolean; retryAfterMs?: number; status?: number } = {},
  ) {
    super(message, options);
    this.status = options.status ?? null;
    this.isTransient = options.isPassing ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether an error says that there is no such file or folder. */
export function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** The code of a system error, such as `ENOENT`; `undefined` for anything else. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
