import { ServiceError } from "../contract/errors.ts";
import type { Facts, Span } from "../tracing/span.ts";

/** Ends the span with the work. Throws what that throws. @param signal aborts when the client goes, which is no failure */
export async function inSpan<T>(span: Span, signal: AbortSignal, work: Promise<T>): Promise<T> {
  try {
    const value = await work;
    span.end();
    return value;
  } catch (error) {
    span.end(failureType(error, signal));
    throw error;
  }
}

/** Ends a request's. A refusal is its client's own doing: what it is, is told, but it is no error of the server's. */
export function endRequestSpan(
  span: Span,
  ending: "finished" | "failed" | "left",
  failure: ServiceError | null,
  facts: Facts = {},
): void {
  span.set({ ...facts, "antiphon.end": ending, ...(failure === null ? {} : { "error.type": failure.type }) });
  span.end(failure !== null && failure.status >= 500 ? failure.type : undefined);
}

/** The type of an error, for a span; `undefined` where the client went, and nothing failed. */
export function failureType(error: unknown, signal: AbortSignal): string | undefined {
  if (error instanceof ServiceError) return error.type;
  if (signal.aborted && error === signal.reason) return undefined;
  return error instanceof Error ? error.name : "_OTHER";
}
