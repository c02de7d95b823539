/** What a command has of its process, which is one: `process`. */
export interface CommandIo {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Screen;
  readonly stderr: Screen;
}

/** Where something is shown: a terminal, a pipe or a file. */
export type Screen = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  /** The terminal itself where `write` is made safe: for sequences of our own, and never for texts of others. */
  readonly raw?: Screen;
};
