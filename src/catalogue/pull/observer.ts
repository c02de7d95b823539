/** What a pull tells whoever watches it, in the order in which it happens. */
export type PullEvent =
  /** Another process installs the same checkpoint; this one waits for it. */
  | { readonly kind: "waiting"; readonly checkpoint: string }
  /** A file that is there is not what it should be, and is fetched anew. */
  | { readonly kind: "damaged"; readonly problem: string }
  /** A source is asked for a file. `doneBytes` are there from an earlier time. */
  | {
      readonly kind: "source";
      readonly file: string;
      readonly source: string;
      readonly doneBytes: number;
      readonly totalBytes: number;
    }
  /** Bytes of the file that are there now; fewer than before when a source starts again. */
  | { readonly kind: "progress"; readonly doneBytes: number; readonly totalBytes: number }
  /** A source failed, and is asked again after the delay. */
  | { readonly kind: "retry"; readonly source: string; readonly problem: string; readonly delayMs: number }
  /** A source is given up. */
  | { readonly kind: "source-failed"; readonly source: string; readonly problem: string }
  /** A file is in its place. */
  | { readonly kind: "placed"; readonly file: string; readonly path: string }
  /** What was fetched is made into what is used here. */
  | { readonly kind: "converting"; readonly checkpoint: string };

/** Is told how a pull goes on; must not throw. */
export type PullObserver = (event: PullEvent) => void;

/** Shows how a pull goes on. */
export interface PullProgress {
  readonly observe: PullObserver;
  /** Leaves the terminal as it was; nothing is shown from then on. */
  close(): void;
}

/** Says that another process holds a checkpoint's lock: it fetches it, or merges what was fetched with its adapter. */
export function waitingFor(checkpoint: string): string {
  return `Another process is installing ${checkpoint}: waiting for it.`;
}
