/** A failed pull. The message is one or two plain sentences with the remedy. */
export class PullError extends Error {
  override readonly name = "PullError";
}

/** A source that failed; another may work. The message completes "the source: …". */
export class SourceError extends Error {
  override readonly name = "SourceError";
  /** Whether the same source may work after a moment. */
  readonly isTransient: boolean;
  /** `Retry-After` in milliseconds from now. */
  readonly retryAfterMs: number | null;
  /** HTTP status, if that was the reason. */
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

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns whether a file or folder does not exist. */
export function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** Returns the code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
