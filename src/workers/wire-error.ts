import { NothingToSpeakError, SpeechFailedError } from "../model/speech-model.ts";
import type { WireError } from "./protocol.ts";

/** What crosses the boundary of a thrown value: anything a model does not own up to counts as its failure. */
export function toWireError(thrown: unknown): WireError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    class: thrown instanceof NothingToSpeakError ? "nothing-to-speak" : "failed",
    message,
    retryAfterMs: thrown instanceof SpeechFailedError ? thrown.retryAfterMs : null,
  };
}

/** The error on the other side, of the same class. */
export function fromWireError({
  class: kind,
  message,
  retryAfterMs,
}: WireError): NothingToSpeakError | SpeechFailedError {
  if (kind === "nothing-to-speak") return new NothingToSpeakError(message);
  return new SpeechFailedError(message, retryAfterMs === null ? {} : { retryAfterMs });
}
