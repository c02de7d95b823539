import { setMaxListeners } from "node:events";
import { AudioFormatError } from "../audio/audio-format-error.ts";
import { RecordingTooLongError } from "../audio/recordings/recording.ts";
import { fieldLabel, ServiceError } from "../contract/errors.ts";
import { IgnoredFields } from "../contract/json/read-json.ts";
import { nearestName } from "../core/nearest-name.ts";
import { UsageError } from "../server/errors.ts";
import { mapEngineError } from "../serving/service-errors.ts";
import { SettingsError } from "../settings/settings-error.ts";
import { MarkupError } from "../text/ssml/markup.ts";
import { AntiphonError } from "./types.ts";

/** Converts any failure to an error for the library's users. */
export function asAntiphonError(thrown: unknown): AntiphonError {
  const error = mapEngineError(thrown, NEVER);
  if (error instanceof AntiphonError) return error;
  if (error instanceof ServiceError) {
    const cause = error.cause ?? error;
    return new AntiphonError(sentence(error.message), error.type, error.param, { cause });
  }
  const options = { cause: error };
  if (error instanceof MarkupError) return wrong("text", error.message, options);
  if (error instanceof RecordingTooLongError)
    return wrong("recording", `it is longer than ${error.maxS / 3_600} hours: cut it into pieces`, options);
  if (error instanceof AudioFormatError) {
    const remedy = error.remedy === null ? "" : `: ${error.remedy.replace(/^send/, "give")}`;
    return wrong("recording", `it cannot be decoded: ${error.problem}${remedy}`, options);
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof SettingsError) return new AntiphonError(message, "settings", error.setting, options);
  const code = error instanceof UsageError ? "invalid_request" : "internal_error";
  return new AntiphonError(message, code, null, options);
}

const NEVER = new AbortController().signal;

/** Creates the error for an invalid argument. */
export function wrong(field: string, problem: string, options?: { readonly cause: unknown }): AntiphonError {
  return new AntiphonError(`${field}: ${sentence(problem)}`, "invalid_request", field, options);
}

function sentence(message: string): string {
  return /[.?]$/.test(message) ? message : `${message}.`;
}

export function closedError(): AntiphonError {
  return new AntiphonError("This Antiphon was closed: open another.", "closed");
}

/** Rejects unknown options. Throws AntiphonError. */
export function checkNames(options: unknown, known: readonly string[]): void {
  if (options === null || typeof options !== "object" || Array.isArray(options))
    throw wrong("options", "they must be an object");
  const name = Object.keys(options).find((each) => !known.includes(each));
  if (name === undefined) return;
  const meant = nearestName(name, known);
  const remedy = meant === null ? `there are ${known.join(", ")}` : `did you mean ${meant}?`;
  throw wrong(fieldLabel(name), `there is no such option: ${remedy}`);
}

/** Rejects members that a schema does not have. Throws AntiphonError. */
export function checkMembers(schema: object, asked: unknown): void {
  const unread = new IgnoredFields();
  unread.addUnknown(schema, asked);
  if (unread.first !== null) throw wrong(unread.first, "there is no such field: correct it, or leave it out");
}

/** Accepts signals of any realm. Throws AntiphonError. */
export function checkSignal(signal: unknown): AbortSignal | null {
  if (signal === undefined || signal === null) return null;
  if (typeof signal === "object" && "aborted" in signal && "addEventListener" in signal) {
    // One signal may end any number of calls, so Node's warning about many listeners is disabled.
    if (signal instanceof EventTarget) setMaxListeners(0, signal);
    return signal as AbortSignal;
  }
  throw wrong("signal", "it must be an AbortSignal");
}

/** Throws AntiphonError. */
export function checkText(text: unknown): void {
  if (typeof text !== "string") throw wrong("text", "it must be a string");
}
