import { Worker } from "node:worker_threads";
import type { AudioSource } from "../../core/audio-source.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  type Transcript,
} from "../../core/recogniser.ts";
import { ThreadCalls, ThreadError } from "../../workers/calls/thread-calls.ts";
import { RecogniserFilesError } from "./description.ts";
import { cannotTranslate, isoLanguage, unknownLanguage, whisperLanguage } from "./languages.ts";
import type { HeardWindow, WindowRequest } from "./listening/window.ts";
import type { OpenedWhisper, StopCell, WhisperThreadData, WireError } from "./whisper-thread.ts";
import { hearWholeSound } from "./whole-sound.ts";

export interface WhisperOptions {
  /** Of a longer clip only so much is heard, in seconds. 900 unless told. */
  readonly maxS?: number;
  /** Longest that 30 s may take before the thread is given up, in milliseconds. 120 000 unless told. */
  readonly deadlineMs?: number;
  /** The thread failed, and another takes its place. Plain words for a log. */
  readonly onFailure?: (message: string) => void;
  /** It answers again. */
  readonly onRecovery?: (message: string) => void;
  /** Starts a thread that answers as `whisper-thread.ts` does. */
  readonly startThread?: (site: WhisperThreadData) => Worker;
}

const MAX_S = 900;
const DEADLINE_MS = 120_000;
const RETRY_MS = 1_000;
/** Of the thread's own heap, of which one that hears uses 15 MB. */
const HEAP_MB = 96;
const NAME = "the thread that hears";

/**
 * The recogniser that `convertWhisper` wrote into a folder, in a thread of its own. It hears 30 s at a time, and whoever
 * has been heard least goes first, so that a long recording does not keep a short one waiting. Any number of clips may be
 * open: how many there are is decided where keys take turns. A thread that dies or hangs fails what it was hearing and is
 * replaced.
 *
 * @throws RecogniserFilesError when the folder does not hold it whole; RecogniserError when it cannot be opened.
 */
export async function openWhisper(folder: string, options: WhisperOptions = {}): Promise<Recogniser> {
  const { maxS = MAX_S, onFailure, onRecovery, startThread = started } = options;
  const calls = new ThreadCalls({
    name: NAME,
    start: () => startThread({ folder }),
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
    isNative: true,
    probe: "open",
    fromWire: (thrown) => fromWire(thrown as WireError),
    onFailure: ({ message }) => onFailure?.(message),
    onRecovery: () => onRecovery?.(`${NAME} works again`),
  });
  let about: OpenedWhisper;
  try {
    about = (await calls.call("open", [], { repeatable: true })) as OpenedWhisper;
  } catch (error) {
    await calls.close();
    throw error instanceof RecogniserFilesError ? error : asRecogniserError(error);
  }
  return new ThreadedWhisper(calls, about, maxS);
}

class ThreadedWhisper implements Recogniser {
  readonly name: string;
  readonly memoryBytesPerS = 0;
  readonly canTranslate: boolean;
  readonly #calls: ThreadCalls;
  readonly #languages: readonly string[];
  readonly #maxS: number;
  /** One for each clip that is being heard. */
  readonly #stops = new Set<StopCell>();

  constructor(calls: ThreadCalls, { name, languages }: OpenedWhisper, maxS: number) {
    this.name = name;
    this.canTranslate = languages.length > 0;
    this.#calls = calls;
    this.#languages = languages;
    this.#maxS = maxS;
  }

  async recognise(sound: AudioSource, options: RecogniseOptions, signal: AbortSignal): Promise<Transcript> {
    signal.throwIfAborted();
    const isTranslation = options.task === "translate";
    if (isTranslation && !this.canTranslate) throw cannotTranslate();
    const own = {
      ...options,
      language: this.#knownLanguage(options.language),
      wantsWords: options.wantsWords && !isTranslation,
    };
    const draft = options.draft;
    const ownDraft = draft && { ...draft, language: draft.language && this.#named(draft.language) };
    const stop: StopCell = new Int32Array(new SharedArrayBuffer(4));
    const onAbort = (): void => void Atomics.store(stop, 0, 1);
    const hear = (request: WindowRequest, fromS: number): Promise<HeardWindow> =>
      (
        this.#calls.call("hear", [request, stop], {
          signal,
          transfer: [request.samples.buffer as ArrayBuffer],
          // Whoever has been heard for long lets a newcomer go first.
          rank: fromS,
        }) as Promise<HeardWindow>
      ).catch((error: unknown) => {
        signal.throwIfAborted();
        throw asRecogniserError(error);
      });
    this.#stops.add(stop);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const given = (part: Transcript): Transcript => ({
        ...part,
        language: part.language && isoLanguage(part.language),
      });
      const { onPartial } = options;
      const toldParts =
        onPartial === undefined ? {} : { onPartial: (part: Transcript) => onPartial(given(part)) };
      const asked = { ...own, ...toldParts, draft: ownDraft };
      return given(await hearWholeSound(sound, asked, this.#maxS, hear, signal));
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#stops.delete(stop);
    }
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) Atomics.store(stop, 0, 1);
    await this.#calls.close();
  }

  #named(language: string): string | null {
    return whisperLanguage(language, this.#languages);
  }

  #knownLanguage(language: string | null): string | null {
    if (language === null) return null;
    const named = this.#named(language);
    if (named === null) throw unknownLanguage(language, this.#languages);
    return named;
  }
}

function started(site: WhisperThreadData): Worker {
  // A small nursery: the networks' numbers are outside the heap.
  const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: HEAP_MB };
  const entry = new URL("./whisper-thread.js", import.meta.url);
  return new Worker(entry, { workerData: site, resourceLimits, execArgv: [], name: "hearing" });
}

function fromWire({ message, isOfFiles }: WireError): Error {
  return isOfFiles ? new RecogniserFilesError(message) : new Error(message);
}

function asRecogniserError(error: unknown): RecogniserError {
  if (error instanceof RecogniserError) return error;
  if (error instanceof ThreadError) {
    if (error.problem === "closed") return new RecogniserError(CLOSED, { cause: error });
    return new RecogniserError("The recogniser failed on this recording. Retry in a moment.", {
      cause: error,
      retryAfterMs: RETRY_MS,
    });
  }
  return new RecogniserError("The recogniser cannot run. The server's log has the cause.", {
    cause: error,
  });
}

const CLOSED = "The recogniser is closed. Retry when the server is up again.";
