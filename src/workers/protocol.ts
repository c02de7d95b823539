import type { Encoding } from "../audio/encode/encoder.ts";
import type { TextPiece } from "../core/marked-text.ts";
import type { Script } from "../core/script.ts";
import {
  ConversationError,
  type EncodedPiece,
  type Frame,
  NothingToSpeakError,
  SpeechFailedError,
  type SpeechModel,
  type SpeechReport,
} from "../core/speech-model.ts";
import type { NativeCallGuard, NativeGate } from "./calls/native-gate.ts";

export interface ThreadData {
  /** URL of the module whose {@link ModelModule.createModel} creates the thread's model. */
  readonly entry: string;
  /** Options of `createModel`. */
  readonly create: unknown;
  /** Whether the model computes open utterances together, so that all are asked at the same time. */
  readonly isBatching: boolean;
  /** Gate that tells whether the thread may be ended from outside. */
  readonly gate: NativeGate;
}

/** Exports of the module at {@link ThreadData.entry}. */
export interface ModelModule {
  readonly createModel: (options: unknown, guard: NativeCallGuard) => Promise<SpeechModel>;
}

/** Script without its text, which follows piece by piece. */
export type SpokenScript = Omit<Script, "text" | "traceHeaders">;

/** Opens an utterance and asks for its first piece of text, without a `pull`. */
export interface OpenMessage {
  readonly kind: "open";
  readonly id: number;
  readonly script: SpokenScript;
  /** File format; `null` for raw samples. */
  readonly encoding: Encoding | null;
  /** Frames that may be computed before the first `credit`. */
  readonly credit: number;
}

/** Answer to a pull of text: a piece, its end, or that the source threw (the host keeps the error). */
export type TextItem = { readonly piece: TextPiece } | "end" | "failed";

export type ToThread =
  | OpenMessage
  | { readonly kind: "text"; readonly id: number; readonly item: TextItem }
  | { readonly kind: "credit"; readonly id: number; readonly frames: number }
  | { readonly kind: "stop"; readonly id: number }
  /** Answered with a `pong` between two steps. */
  | { readonly kind: "ping" }
  | { readonly kind: "close" };

/** Error as sent across threads: its class, as far as callers distinguish it, and its message. */
export interface WireError {
  readonly class: "nothing-to-speak" | "conversation" | "failed";
  readonly message: string;
  /** See `SpeechFailedError`. */
  readonly retryAfterMs: number | null;
}

export type ToHost =
  | { readonly kind: "ready" }
  | { readonly kind: "unusable"; readonly message: string }
  | { readonly kind: "pong" }
  | { readonly kind: "pull"; readonly id: number }
  /** One or more, in order. */
  | { readonly kind: "frames"; readonly id: number; readonly frames: readonly (Frame | EncodedPiece)[] }
  | { readonly kind: "end"; readonly id: number; readonly report: SpeechReport }
  | { readonly kind: "fail"; readonly id: number; readonly error: WireError };

/** Converts a thrown value; anything but a known class counts as the model's failure. */
export function toWireError(thrown: unknown): WireError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const retryAfterMs = thrown instanceof SpeechFailedError ? thrown.retryAfterMs : null;
  return { class: classOf(thrown), message, retryAfterMs };
}

function classOf(thrown: unknown): WireError["class"] {
  if (thrown instanceof NothingToSpeakError) return "nothing-to-speak";
  return thrown instanceof ConversationError ? "conversation" : "failed";
}

export function fromWireError({ class: kind, message, retryAfterMs }: WireError): Error {
  if (kind === "nothing-to-speak") return new NothingToSpeakError(message);
  if (kind === "conversation") return new ConversationError(message);
  return new SpeechFailedError(message, retryAfterMs === null ? {} : { retryAfterMs });
}
