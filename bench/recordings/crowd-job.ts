/** What clients are asked to do who send recordings, until they are told to stop. It can be cloned into another process. */
export interface RecordingCrowdJob {
  /** `http://host:port`. */
  readonly url: string;
  readonly keys: readonly string[];
  /** Clients of each key, each with one upload at a time; they have the files between them. */
  readonly clientsPerKey: number;
  readonly files: readonly { readonly name: string; readonly path: string }[];
}

/** How the uploads ended, by the file's name: with a status, `left` by the client or `cut` by the server. */
export type RecordingCrowdTally = Readonly<Record<string, Readonly<Record<string, number>>>>;
