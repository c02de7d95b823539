import type { ClientEvent } from "../../contract/realtime/client-events.ts";
import type { Item } from "./conversation-items.ts";
import type { ServerEvent } from "./realtime-dialect.ts";
import type { ReplyEnd, Spoken } from "./response.ts";
import type { SessionSettings } from "./session-settings.ts";

/** What happens to a session. */
export type SessionEvent =
  /** `appended`: samples of sound that had come before the event, at 16 kHz. */
  | { readonly type: "client"; readonly event: ClientEvent; readonly appended: number }
  /** Probabilities of speech, a window each, in order; the first begins with that sample. */
  | { readonly type: "windows"; readonly probabilities: readonly number[]; readonly from: number }
  /** What the judge answered. */
  | { readonly type: "verdict"; readonly revision: number; readonly finished: number }
  /** What the recogniser heard; no text where it failed. */
  | {
      readonly type: "heard";
      readonly revision: number;
      readonly text: string | null;
      readonly seconds: number;
    }
  /** What the turn that goes on says so far. */
  | { readonly type: "partly"; readonly from: number; readonly text: string }
  | { readonly type: "spoken"; readonly responseId: string; readonly spoken: Spoken }
  | { readonly type: "replied"; readonly responseId: string; readonly end: ReplyEnd }
  /**
   * The time that {@link SessionEffect} `wake` named has come. `isBehind`: audio may have arrived that is not
   * analysed yet.
   */
  | { readonly type: "woken"; readonly isBehind: boolean };

/** What is to be done. */
export type SessionEffect =
  | { readonly type: "send"; readonly event: ServerEvent }
  /** Have that much of the sound recognised, unless it is superseded. */
  | { readonly type: "recognise"; readonly revision: number; readonly from: number; readonly to: number }
  /** Have it recognised if that is soon, so that the rest of the turn is recognised sooner. */
  | { readonly type: "draft"; readonly from: number; readonly to: number }
  | { readonly type: "judge"; readonly revision: number; readonly from: number; readonly to: number }
  /** A turn of so many seconds was committed, to be metered; its recognition is superseded by none. */
  | { readonly type: "committed"; readonly revision: number; readonly seconds: number }
  /** The transcript of a committed turn is available, or failed. */
  | { readonly type: "transcribed"; readonly revision: number; readonly hasFailed: boolean }
  /** The turn in progress was discarded; what was transcribed of it is still metered. */
  | { readonly type: "discarded" }
  /** Sound before that sample is needed no more. */
  | { readonly type: "forget"; readonly before: number }
  /** Speech is looked for anew, from what comes next on; what was found before is void. */
  | { readonly type: "reset" }
  /** The detector forgets what it has heard; nothing is void. */
  | { readonly type: "refresh" }
  | { readonly type: "respond"; readonly request: ResponseRequest }
  | { readonly type: "cancel"; readonly responseId: string }
  /** The first sound of an answer was sent, so long after the speech had ended. */
  | { readonly type: "answered"; readonly afterMs: number }
  /** At that time; `null`: never, instead of the one before. */
  | { readonly type: "wake"; readonly atMs: number | null };

/** What a reply is made from. */
export interface ResponseRequest {
  readonly responseId: string;
  /** Oldest first. */
  readonly items: readonly Item[];
  readonly settings: SessionSettings;
}
