import type { ClientEvent } from "../../contract/realtime/client-events.ts";
import type { ConversationItem, ConversationItems } from "./conversation-items.ts";
import type { SendEvent, ServerEvent } from "./realtime-dialect.ts";
import type { ResponseDelta, ResponseEnd } from "./realtime-response.ts";
import type { SessionSettings } from "./session-settings.ts";

export type SessionEvent =
  /** `appended`: 16 kHz samples that arrived before the event. */
  | { readonly type: "client_event"; readonly event: ClientEvent; readonly appended: number }
  /** One probability per window, in order; `from` is the first sample of the first window. */
  | {
      readonly type: "speech_probabilities";
      readonly probabilities: readonly number[];
      readonly from: number;
    }
  /** The turn judge's probability that the turn is finished. */
  | { readonly type: "verdict"; readonly revision: number; readonly finished: number }
  | ({ readonly type: "transcript" } & TurnTranscript)
  | ({ readonly type: "partial_transcript" } & PartialTranscript)
  | { readonly type: "response_delta"; readonly responseId: string; readonly delta: ResponseDelta }
  | { readonly type: "response_ended"; readonly responseId: string; readonly end: ResponseEnd }
  /**
   * The time of {@link SessionEffect} `set_timer` has come. `isBehind`: audio may have arrived that is not analysed
   * yet.
   */
  | { readonly type: "timer"; readonly isBehind: boolean };

/** Transcript of a turn up to a pause. */
export interface TurnTranscript {
  readonly revision: number;
  /** `null` if recognition failed. */
  readonly text: string | null;
  readonly seconds: number;
}

/** Transcript so far of the turn that starts at `from`. `stable`: its first words, which are unlikely to change. */
export interface PartialTranscript {
  readonly from: number;
  readonly text: string;
  readonly stable: string;
}

export interface SampleRange {
  readonly from: number;
  readonly to: number;
}

export type SessionEffect =
  | { readonly type: "send"; readonly event: ServerEvent }
  /** Transcribe audio up to a pause, unless a newer request supersedes this one. */
  | ({ readonly type: "transcribe"; readonly revision: number } & SampleRange)
  /** Make the words before the latest pause final if they are a sentence. */
  | { readonly type: "sentence_pause"; readonly revision: number }
  /** Transcribe a turn in progress. `isUnconfirmed`: the words decide whether it interrupts a reply. */
  | ({ readonly type: "transcribe_partial"; readonly isUnconfirmed: boolean } & SampleRange)
  | ({ readonly type: "judge"; readonly revision: number } & SampleRange)
  /** Meter a committed turn. Its transcription is no longer superseded. */
  | { readonly type: "turn_committed"; readonly revision: number; readonly seconds: number }
  /** The transcript of a committed turn is available, or failed. */
  | { readonly type: "turn_transcribed"; readonly revision: number; readonly hasFailed: boolean }
  /** Meter the seconds transcribed of the turn that was discarded. */
  | { readonly type: "turn_discarded" }
  | { readonly type: "forget_audio"; readonly before: number }
  /** Restart detection with the next sample; drop pending results. */
  | { readonly type: "reset_detection" }
  /** Clear the detector's memory; pending results stay valid. */
  | { readonly type: "refresh_detector" }
  /** Write the reply to a turn that is probably over. Nothing of it is sent or metered before `respond`. */
  | { readonly type: "prepare"; readonly request: ResponseRequest }
  | { readonly type: "respond"; readonly request: ResponseRequest }
  | { readonly type: "cancel"; readonly responseId: string }
  /** The first audio of an answer was sent this long after the speech ended. */
  | { readonly type: "first_audio"; readonly afterMs: number }
  /** Replaces the previous timer; `null` cancels it. */
  | { readonly type: "set_timer"; readonly atMs: number | null };

export interface ResponseRequest {
  readonly responseId: string;
  readonly items: readonly ConversationItem[];
  readonly settings: SessionSettings;
}

export interface SessionContext {
  readonly newId: (prefix: string) => string;
  readonly settings: () => SessionSettings;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  readonly items: ConversationItems;
  readonly do: (effect: SessionEffect) => void;
  readonly send: SendEvent;
}
