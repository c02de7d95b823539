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

/** What a thread is started with. */
export interface ThreadData {
  /** Address of the module whose {@link ModelModule.createModel} makes the thread's model. */
  readonly entry: string;
  /** Handed to `createModel` as it is. */
  readonly create: unknown;
  /** Whether it computes the open utterances together: then all of them are asked at the same time. */
  readonly isBatching: boolean;
  /** Says whether the thread may be ended from outside just now. */
  readonly gate: NativeGate;
}

/** What the module at {@link ThreadData.entry} exports. */
export interface ModelModule {
  readonly createModel: (options: unknown, guard: NativeCallGuard) => Promise<SpeechModel>;
}

/** What crosses of a script: its text comes piece by piece, and no endpoint is asked. */
export type SpokenScript = Omit<Script, "text" | "traceHeaders">;

/** An utterance to begin. It asks for the first piece of its text without a `pull`. */
export interface OpenMessage {
  readonly kind: "open";
  readonly id: number;
  readonly script: SpokenScript;
  /** What file to make of it; `null`: samples as they are. */
  readonly encoding: Encoding | null;
  /** Frames that may be computed before the first `credit`. */
  readonly credit: number;
}

/** One answer to a pull of text: a piece, its end, or that the source threw (the host keeps the error). */
export type TextItem = { readonly piece: TextPiece } | "end" | "failed";

export type ToThread =
  | OpenMessage
  | { readonly kind: "text"; readonly id: number; readonly item: TextItem }
  | { readonly kind: "credit"; readonly id: number; readonly frames: number }
  | { readonly kind: "stop"; readonly id: number }
  /** Answer with a `pong` between two steps. */
  | { readonly kind: "ping" }
  | { readonly kind: "close" };

/** An error as it crosses the boundary: its class, as far as the model's seam knows it, and its words. */
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
  /** One or several, in order. */
  | { readonly kind: "frames"; readonly id: number; readonly frames: readonly (Frame | EncodedPiece)[] }
  | { readonly kind: "end"; readonly id: number; readonly report: SpeechReport }
  | { readonly kind: "fail"; readonly id: number; readonly error: WireError };

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
