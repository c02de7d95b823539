import { freeBytesOf } from "./disk.ts";

/** How a checkpoint is pulled. All but the data directory may be left out. */
export interface PullOptions {
  readonly dataDir: string;
  /** Ends the pull; what is there stays for the next. */
  readonly signal?: AbortSignal;
  readonly observe?: PullObserver;
  /** The environment; this process's unless given. */
  readonly env?: NodeJS.ProcessEnv;
  readonly times?: Partial<PullTimes>;
  /** Tells how many bytes a folder has room for; asks the system unless given. */
  readonly freeBytes?: (dir: string) => Promise<number>;
}

/** What files are fetched with. */
export interface FetchContext {
  readonly times: PullTimes;
  readonly env: NodeJS.ProcessEnv;
  readonly freeBytes: (dir: string) => Promise<number>;
  readonly observe: PullObserver;
  readonly signal: AbortSignal;
  /** Whether what came of a file stays for another time when the disk fails, too: for files of gigabytes. */
  readonly keepsParts?: boolean;
}

/** The same, with what was left out. */
export function fetchContext(options: PullOptions): FetchContext {
  return {
    times: { ...DEFAULT_TIMES, ...options.times },
    env: options.env ?? process.env,
    freeBytes: options.freeBytes ?? freeBytesOf,
    observe: options.observe ?? (() => {}),
    signal: options.signal ?? new AbortController().signal,
  };
}

/** How patient a pull is. */
export interface PullTimes {
  /** Until a server has taken the connection. Short: whoever has no way to one source should soon be at the next. */
  readonly connectTimeoutMs: number;
  /** Until a server has begun its answer, and within which it has to send at least `stallBytes` at every time. */
  readonly stallTimeoutMs: number;
  readonly stallBytes: number;
  /** Before each try that follows one that brought nothing new; after the last, the source is given up. */
  readonly retryDelaysMs: readonly number[];
  /** The longest `Retry-After` that is waited for. */
  readonly maxWaitMs: number;
  /** For all that pip does, and the unpacking. */
  readonly pipTimeoutMs: number;
  /** Between two looks at how much of a wheel pip has. */
  readonly pipPollMs: number;
  /** Between two looks whether another process is done. */
  readonly lockPollMs: number;
  /** After which the lock of a process that no longer renews it counts for nothing; at least 2 s. */
  readonly lockStaleMs: number;
}

/** For people on ordinary networks. */
export const DEFAULT_TIMES: PullTimes = {
  connectTimeoutMs: 5_000,
  stallTimeoutMs: 30_000,
  stallBytes: 16_384,
  retryDelaysMs: [500, 1_000, 2_000, 4_000],
  maxWaitMs: 60_000,
  pipTimeoutMs: 1_800_000,
  pipPollMs: 250,
  lockPollMs: 500,
  lockStaleMs: 10_000,
};

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
  | { readonly kind: "converting"; readonly checkpoint: string }
  /** The same, and it takes minutes. */
  | { readonly kind: "preparing"; readonly checkpoint: string };

/** Is told how a pull goes on; must not throw. */
export type PullObserver = (event: PullEvent) => void;

/** Shows how a pull goes on. */
export interface PullProgress {
  readonly observe: PullObserver;
  /** Leaves the terminal as it was; nothing is shown from then on. */
  close(): void;
}

/** Says that another process holds a checkpoint's lock: it fetches it, or merges what was fetched with its adapter. */
export function waitingMessage(checkpoint: string): string {
  return `Another process is installing ${checkpoint}: waiting for it.`;
}
