import { ServiceError } from "../contract/errors.ts";
import { abortable } from "../model/abortable.ts";
import type { Stop } from "../model/stop-with.ts";

/**
 * Waits for `work`, at most `timeoutMs`, and no longer than until `stop` aborts. Past the deadline it aborts `stop`
 * with a 502 {@link ServiceError} that says who took too long, so that whatever the work was for stops too. Throws the
 * abort reason.
 */
export async function within<T>(
  work: Promise<T>,
  timeoutMs: number,
  stop: Pick<Stop, "signal" | "abort">,
  who: () => string = () => "the speech model",
): Promise<T> {
  const timer = setTimeout(
    () => stop.abort(new ServiceError(502, `${who()} took too long: retry`, { retryAfterMs: 1_000 })),
    timeoutMs,
  );
  try {
    return await abortable(work, stop.signal);
  } finally {
    clearTimeout(timer);
  }
}
