import { ConversationError, NothingToSpeakError, SpeechFailedError } from "../model/speech-model.ts";
import type { WireError } from "./protocol.ts";

/** What crosses the boundary of a thrown value: anything a model does not own up to counts as its failure. */
export function toWireError(thrown: unknown): WireError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const retryAfterMs = thrown instanceof SpeechFailedError ? thrown.retryAfterMs : null;
  return { class: classOf(thrown), message, retryAfterMs };
}

function classOf(thrown: unknown): WireError["class"] {
  if (thrown instanceof NothingToSpeakError) return "nothing-to-speak";
  return thrown instanceof ConversationError ? "conversation" : "failed";
}

/** The error on the other side, of the same class. */
export function fromWireError({ class: kind, message, retryAfterMs }: WireError): Error {
  if (kind === "nothing-to-speak") return new NothingToSpeakError(message);
  if (kind === "conversation") return new ConversationError(message);
  return new SpeechFailedError(message, retryAfterMs === null ? {} : { retryAfterMs });
}
