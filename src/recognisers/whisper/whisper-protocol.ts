import type { HeardWindow, WindowRequest } from "./listening/window.ts";

/** What the thread is told when it starts. */
export interface WhisperSite {
  /** Holds what `convertWhisper` wrote. */
  readonly folder: string;
}

/** A cell in shared memory that is not 0 once nobody waits for the answer any more. */
export type StopCell = Int32Array;

/** What the thread answers. */
export interface WhisperOperations {
  /** Loads the networks, if they are not loaded. */
  open(): Promise<OpenedWhisper>;
  hear(request: WindowRequest, stop: StopCell): Promise<HeardWindow>;
}

export interface OpenedWhisper {
  readonly name: string;
  /** As Whisper names them; empty where it knows English alone. */
  readonly languages: readonly string[];
}

/** An error as its parts, since a clone would lose its class. */
export interface WireError {
  readonly message: string;
  /** Whether the recogniser's files are at fault. */
  readonly isOfFiles: boolean;
}
