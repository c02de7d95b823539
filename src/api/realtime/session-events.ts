import type { ClientEvent } from "../../contract/realtime/client-events.ts";
import type { ConversationItem, ConversationItems } from "./conversation-items.ts";
import type { SendEvent, ServerEvent } from "./realtime-dialect.ts";
import type { ResponseDelta, ResponseEnd } from "./realtime-response.ts";
import type { SessionSettings } from "./session-settings.ts";

/** What happens to a session. */
export type SessionEvent =
  /** `appended`: samples of sound that had come before the event, at 16 kHz. */
  | { readonly type: "client_event"; readonly event: ClientEvent; readonly appended: number }
  /** Probabilities of speech, a window each, in order; the first begins with that sample. */
  | {
      readonly type: "speech_probabilities";
      readonly probabilities: readonly number[];
      readonly from: number;
    }
  /** What the judge answered. */
  | { readonly type: "verdict"; readonly revision: number; readonly finished: number }
  /** What the recogniser heard; no text where it failed. */
  | {
      readonly type: "transcript";
      readonly revision: number;
      readonly text: string | null;
      readonly seconds: number;
    }
  /** What the turn that goes on says so far. */
  | { readonly type: "partial_transcript"; readonly from: number; readonly text: string }
  | { readonly type: "response_delta"; readonly responseId: string; readonly delta: ResponseDelta }
  | { readonly type: "response_ended"; readonly responseId: string; readonly end: ResponseEnd }
  /**
   * The time that {@link SessionEffect} `wake` named has come. `isBehind`: audio may have arrived that is not
   * analysed yet.
   */
  | { readonly type: "timer"; readonly isBehind: boolean };

/** What is to be done. */
export type SessionEffect =
  | { readonly type: "send"; readonly event: ServerEvent }
  /** Have that much of the sound recognised, unless it is superseded. */
  | { readonly type: "transcribe"; readonly revision: number; readonly from: number; readonly to: number }
  /** Have it recognised if that is soon, so that the rest of the turn is recognised sooner. */
  | { readonly type: "transcribe_partial"; readonly from: number; readonly to: number }
  | { readonly type: "judge"; readonly revision: number; readonly from: number; readonly to: number }
  /** A turn of so many seconds was committed, to be metered; its recognition is superseded by none. */
  | { readonly type: "turn_committed"; readonly revision: number; readonly seconds: number }
  /** The transcript of a committed turn is available, or failed. */
  | { readonly type: "turn_transcribed"; readonly revision: number; readonly hasFailed: boolean }
  /** The turn in progress was discarded; what was transcribed of it is still metered. */
  | { readonly type: "turn_discarded" }
  /** Sound before that sample is needed no more. */
  | { readonly type: "forget_audio"; readonly before: number }
  /** Speech is looked for anew, from what comes next on; what was found before is void. */
  | { readonly type: "reset_detection" }
  /** The detector forgets what it has heard; nothing is void. */
  | { readonly type: "refresh_detector" }
  | { readonly type: "respond"; readonly request: ResponseRequest }
  | { readonly type: "cancel"; readonly responseId: string }
  /** The first sound of an answer was sent, so long after the speech had ended. */
  | { readonly type: "first_audio"; readonly afterMs: number }
  /** At that time; `null`: never, instead of the one before. */
  | { readonly type: "set_timer"; readonly atMs: number | null };

/** What a reply is made from. */
export interface ResponseRequest {
  readonly responseId: string;
  /** Oldest first. */
  readonly items: readonly ConversationItem[];
  readonly settings: SessionSettings;
}

/** What a session shares with its parts. */
export interface SessionContext {
  /** Returns a new id with this prefix. */
  readonly newId: (prefix: string) => string;
  readonly settings: () => SessionSettings;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  readonly items: ConversationItems;
  readonly do: (effect: SessionEffect) => void;
  readonly send: SendEvent;
}
