import type { TextPiece } from "../../core/marked-text.ts";
import type { RequestedManner } from "../../core/script.ts";
import type { VoiceChoice } from "./choose-voice.ts";

/** A dialogue that has been checked in full. */
export interface ResolvedDialogue {
  readonly speakers: readonly DialogueSpeaker[];
  readonly lines: readonly DialogueLine[];
  readonly maxLineFrames: number;
}

export interface DialogueSpeaker {
  readonly name: string;
  /** Name of its voice, as replies report it. */
  readonly voice: string;
  /** Whether the request chose the voice. */
  readonly isChosen: boolean;
  readonly choice: VoiceChoice;
}

export interface DialogueLine {
  /** Index of the speaker. */
  readonly speaker: number;
  readonly text: string;
  readonly piece: TextPiece;
  readonly manner?: RequestedManner;
  /** Seconds of silence before it; `null` if its own text or that of the line before asks for a pause there. */
  readonly gapS: number | null;
  /** Position in the reply's text, in code points. */
  readonly offset: number;
  readonly length: number;
  /** Heading of the scene that it begins, which may be empty; `null` within a scene. */
  readonly scene: string | null;
}
