/** What clients of the Wyoming protocol are asked to do, until they are told to stop. It can be cloned into another process. */
export interface FloodJob {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** Whether the answers are read. */
  readonly reads: boolean;
}

/** What came of it. */
export interface FloodTally {
  /** Events that were written, and bytes of answers that were read. */
  readonly events: number;
  readonly answerBytes: number;
  /** Connections that the server ended. */
  readonly ended: number;
}
