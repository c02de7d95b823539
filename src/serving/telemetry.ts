import type { Usage } from "../contract/replies.ts";

/** What the life of a request reports to whoever measures. Sizes and times only: never text, audio or keys. */
export interface Telemetry {
  /** Seconds from the request's arrival to its first frame. */
  firstAudio(seconds: number): void;
  /** A frame came later than a listener in real time needed it, and not because that listener was slow. */
  underrun(): void;
  /** An utterance is out: seconds of audio, and seconds the engine was waited for. */
  spoken(audioS: number, engineS: number): void;
  /** A recording was heard: its length, and how long the recogniser was waited for, in seconds. */
  heard(audioS: number, recogniserS: number): void;
  /** A turn of sound alone was to be heard before its reply. */
  turnHeard(outcome: "whole" | "part" | "none"): void;
  metered(usage: Usage): void;
}
