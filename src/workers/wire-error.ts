import { NothingToSpeakError, SpeechFailedError } from "../model/speech-model.ts";
import type { WireError } from "./protocol.ts";

/** What crosses the boundary of a thrown value: anything a model does not own up to counts as its failure. */
export function toWireError(thrown: unknown): WireError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { class: thrown instanceof NothingToSpeakError ? "nothing-to-speak" : "failed", message };
}

/** The error on the other side, of the same class. */
export function fromWireError(error: WireError): NothingToSpeakError | SpeechFailedError {
  return error.class === "nothing-to-speak"
    ? new NothingToSpeakError(error.message)
    : new SpeechFailedError(error.message);
}
