import { ServiceError } from "../contract/errors.ts";
import { SettingsError } from "../settings/settings-error.ts";
import { MarkupError } from "../text/markup.ts";
import { AntiphonError } from "./types.ts";

/** Any failure as whoever uses the library is told of it. */
export function asAntiphonError(error: unknown): AntiphonError {
  if (error instanceof AntiphonError) return error;
  const cause = { cause: error };
  if (error instanceof MarkupError)
    return new AntiphonError(`text: ${error.message}.`, "invalid_request", "text", cause);
  if (error instanceof ServiceError)
    return new AntiphonError(`${error.message}.`, error.type, error.param, cause);
  const message = error instanceof Error ? error.message : String(error);
  return new AntiphonError(
    message,
    error instanceof SettingsError ? "settings" : "internal_error",
    null,
    cause,
  );
}

export function closedError(): AntiphonError {
  return new AntiphonError("This Antiphon was closed: open another.", "closed");
}
