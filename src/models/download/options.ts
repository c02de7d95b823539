import { freeBytesOf } from "./disk.ts";

export interface PullOptions {
  readonly dataDir: string;
  /** Ends the pull; downloaded data is kept for the next one. */
  readonly signal?: AbortSignal;
  readonly observe?: PullObserver;
  /** Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  readonly times?: Partial<PullTimes>;
  /** Returns the free bytes in a folder. Default: asks the system. */
  readonly freeBytes?: (dir: string) => Promise<number>;
}

/** Resolved options of a pull. */
export interface FetchContext {
  readonly times: PullTimes;
  readonly env: NodeJS.ProcessEnv;
  readonly freeBytes: (dir: string) => Promise<number>;
  readonly observe: PullObserver;
  readonly signal: AbortSignal;
  /** Whether unfinished files are kept even if the disk fails: for files of gigabytes. */
  readonly keepsParts?: boolean;
  /** Bytes that must stay free after the download. Default: 0. */
  readonly reservedBytes?: number;
}

/** Applies the defaults. */
export function fetchContext(options: PullOptions): FetchContext {
  return {
    times: { ...DEFAULT_TIMES, ...options.times },
    env: options.env ?? process.env,
    freeBytes: options.freeBytes ?? freeBytesOf,
    observe: options.observe ?? (() => {}),
    signal: options.signal ?? new AbortController().signal,
  };
}

export interface PullTimes {
  /** Milliseconds until the connection is established. Short, so that the next source is soon tried. */
  readonly connectTimeoutMs: number;
  /** Milliseconds until the response begins; after that, the period in which at least `stallBytes` must arrive. */
  readonly stallTimeoutMs: number;
  readonly stallBytes: number;
  /** Delays before attempts that follow one without progress; after the last, the source is given up. */
  readonly retryDelaysMs: readonly number[];
  /** Maximum `Retry-After`. */
  readonly maxWaitMs: number;
  /** Limit for pip, including unpacking. */
  readonly pipTimeoutMs: number;
  /** Interval at which the wheel's size is checked. */
  readonly pipPollMs: number;
  readonly lockPollMs: number;
  /** Milliseconds after which a lock that is not renewed is stale; at least 2,000. */
  readonly lockStaleMs: number;
}

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

/** A step of a pull, in order of occurrence. */
export type PullEvent =
  /** Another process is installing the same checkpoint. */
  | { readonly kind: "waiting"; readonly checkpoint: string }
  /** An existing file is wrong and fetched anew. */
  | { readonly kind: "damaged"; readonly problem: string }
  /** A source is asked; `doneBytes` remain from an earlier pull. */
  | {
      readonly kind: "source";
      readonly file: string;
      readonly source: string;
      readonly doneBytes: number;
      readonly totalBytes: number;
    }
  /** Bytes of the file so far; fewer than before if a source starts again. */
  | { readonly kind: "progress"; readonly doneBytes: number; readonly totalBytes: number }
  /** A source failed and is asked again after the delay. */
  | { readonly kind: "retry"; readonly source: string; readonly problem: string; readonly delayMs: number }
  /** A source is given up. */
  | { readonly kind: "source-failed"; readonly source: string; readonly problem: string }
  /** A file is complete. */
  | { readonly kind: "placed"; readonly file: string; readonly path: string }
  /** Weights are being converted. */
  | { readonly kind: "converting"; readonly checkpoint: string }
  /** Weights are being prepared for use, which takes minutes. */
  | { readonly kind: "preparing"; readonly checkpoint: string };

/** Must not throw. */
export type PullObserver = (event: PullEvent) => void;

export interface PullProgress {
  readonly observe: PullObserver;
  /** Restores the terminal. */
  close(): void;
}

/** Returns the message for a checkpoint that another process is fetching, or merging with its adapter. */
export function waitingMessage(checkpoint: string): string {
  return `Another process is installing ${checkpoint}: waiting for it.`;
}
