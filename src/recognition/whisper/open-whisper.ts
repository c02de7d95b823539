import { Worker } from "node:worker_threads";
import { type AudioSource, skipSamples } from "../../core/audio-source.ts";
import { languageCode } from "../../core/languages.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  shiftedSegment,
  type Transcript,
} from "../../core/recogniser.ts";
import { ThreadCalls, ThreadError } from "../../workers/calls/thread-calls.ts";
import { RecogniserFilesError, WINDOW_S } from "./description.ts";
import type { StopCell, WhisperInfo, WhisperThreadData, WhisperThreadError } from "./whisper-thread.ts";
import type { WindowRequest, WindowTranscript } from "./window-transcriber.ts";

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
  const { maxS = MAX_S, onFailure, onRecovery, startThread = startWorker } = options;
  const calls = new ThreadCalls({
    name: NAME,
    start: () => startThread({ folder }),
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
    isNative: true,
    probe: "open",
    fromWire: (thrown) => fromWire(thrown as WhisperThreadError),
    onFailure: ({ message }) => onFailure?.(message),
    onRecovery: () => onRecovery?.(`${NAME} works again`),
  });
  let about: WhisperInfo;
  try {
    about = (await calls.call("open", [], { repeatable: true })) as WhisperInfo;
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

  constructor(calls: ThreadCalls, { name, languages }: WhisperInfo, maxS: number) {
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
    const { draft, onPartial } = options;
    const asked: RecogniseOptions = {
      ...options,
      language: this.#knownLanguage(options.language),
      wantsWords: options.wantsWords && !isTranslation,
      draft: draft && {
        ...draft,
        language: draft.language && whisperLanguage(draft.language, this.#languages),
      },
      ...(onPartial && { onPartial: (part: Transcript) => onPartial(withIsoLanguage(part)) }),
    };
    const stop: StopCell = new Int32Array(new SharedArrayBuffer(4));
    const onAbort = (): void => void Atomics.store(stop, 0, 1);
    const transcribeWindow = (request: WindowRequest, fromS: number): Promise<WindowTranscript> =>
      (
        this.#calls.call("transcribe", [request, stop], {
          signal,
          transfer: [request.samples.buffer as ArrayBuffer],
          // Whoever has been heard for long lets a newcomer go first.
          rank: fromS,
        }) as Promise<WindowTranscript>
      ).catch((error: unknown) => {
        signal.throwIfAborted();
        throw asRecogniserError(error);
      });
    this.#stops.add(stop);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return withIsoLanguage(await transcribeSound(sound, asked, this.#maxS, transcribeWindow, signal));
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#stops.delete(stop);
    }
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) Atomics.store(stop, 0, 1);
    await this.#calls.close();
  }

  #knownLanguage(language: string | null): string | null {
    if (language === null) return null;
    const named = whisperLanguage(language, this.#languages);
    if (named === null) throw unknownLanguage(language, this.#languages);
    return named;
  }
}

function startWorker(site: WhisperThreadData): Worker {
  // A small nursery: the networks' numbers are outside the heap.
  const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: HEAP_MB };
  const entry = new URL("./whisper-thread.js", import.meta.url);
  return new Worker(entry, { workerData: site, resourceLimits, execArgv: [], name: "hearing" });
}

function fromWire({ message, isOfFiles }: WhisperThreadError): Error {
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

/**
 * Whisper's name for a language, of which a region is left out (`pt-BR`).
 *
 * @param known the languages of a model; empty for one of English alone
 * @returns `null` where the model does not know it
 */
export function whisperLanguage(code: string, known: readonly string[]): string | null {
  const wanted = isoLanguage(code.toLowerCase().split(/[-_]/)[0]!);
  return (known.length === 0 ? ["en"] : known).find((name) => isoLanguage(name) === wanted) ?? null;
}

function withIsoLanguage(transcript: Transcript): Transcript {
  return { ...transcript, language: transcript.language && isoLanguage(transcript.language) };
}

/** The code of ISO 639 of what Whisper calls so. */
export function isoLanguage(name: string): string {
  return languageCode(name) ?? name;
}

/** What is told where a language is asked for that the model does not know. @param known as above */
function unknownLanguage(code: string, known: readonly string[]): RecogniserError {
  const codes = (known.length === 0 ? ["en"] : known).map(isoLanguage).sort();
  return new RecogniserError(
    `The recogniser does not know the language '${printable(code)}'. ` +
      `Leave \`language\` out, or give one of: ${codes.join(", ")}.`,
    { refused: "language" },
  );
}

/** What is told where a translation is asked for of a model of English alone. */
function cannotTranslate(): RecogniserError {
  return new RecogniserError(
    "The recogniser knows English alone, and cannot translate. Ask for a transcription instead.",
    { refused: "task" },
  );
}

/** A client's own words, short and without what a log or a terminal would take for more than text. */
function printable(code: string): string {
  return code.replaceAll(/[^\p{L}\p{N}_-]/gu, "?").slice(0, 20);
}

/** Has one window heard, that begins at so many seconds of the sound. */
type TranscribeWindow = (request: WindowRequest, fromS: number) => Promise<WindowTranscript>;

/**
 * Hears sound of any length: windows of up to 30 s, one after the other, each from the pause at which the one before
 * ended. The language that is found first holds for the rest. Never holds more of the sound than one window.
 *
 * @param maxS of a longer sound only so much is heard
 */
async function transcribeSound(
  sound: AudioSource,
  { task = "transcribe", language, prompt, draft, wantsWords, startAtS = 0, onPartial }: RecogniseOptions,
  maxS: number,
  transcribeWindow: TranscribeWindow,
  signal: AbortSignal,
): Promise<Transcript> {
  const { sampleRateHz } = sound;
  // One sample more than a window tells whether the sound goes on.
  const buffer = new Float32Array(WINDOW_S * sampleRateHz + 1);
  let length = 0;
  let left = Math.round(maxS * sampleRateHz);
  let from = await skipSamples(sound, Math.round(startAtS * sampleRateHz), signal);
  left -= from;
  const windows: WindowTranscript[] = [];
  let transcript = transcriptOf([], from / sampleRateHz, wantsWords);
  for (;;) {
    for (let isOver = false; !isOver && length < buffer.length && left > 0; ) {
      const samples = await sound.read(Math.min(buffer.length - length, left), signal);
      buffer.set(samples, length);
      length += samples.length;
      left -= samples.length;
      isOver = samples.length === 0;
    }
    if (length === 0) return transcript;
    const isLast = length < buffer.length;
    const window = await transcribeWindow(
      {
        // A copy: what is taken to another thread is taken from here.
        samples: buffer.slice(0, Math.min(length, buffer.length - 1)),
        sampleRateHz,
        isLast,
        task,
        language: language ?? transcript.language,
        prompt,
        draft: draft !== null && from === 0 && isLast ? { text: draft.text, language: draft.language } : null,
      },
      from / sampleRateHz,
    );
    const byS = from / sampleRateHz;
    windows.push({ ...window, segments: window.segments.map((segment) => shiftedSegment(segment, byS)) });
    const consumed = isLast ? length : Math.round(window.transcribedS * sampleRateHz);
    buffer.copyWithin(0, consumed, length);
    length -= consumed;
    from += consumed;
    transcript = transcriptOf(windows, from / sampleRateHz, wantsWords);
    onPartial?.(transcript);
    if (isLast) return transcript;
  }
}

function transcriptOf(
  windows: readonly WindowTranscript[],
  transcribedS: number,
  wantsWords: boolean,
): Transcript {
  const first = windows.find((each) => each.segments.length > 0);
  const all = first === undefined ? [] : windows.flatMap((each) => each.logProbabilities);
  const segments = windows.flatMap((each) => each.segments);
  return {
    text: segments.map(({ text }) => text).join(" "),
    language: first?.language ?? null,
    languageProbability: first?.languageProbability ?? null,
    speechProbability: Math.max(0, ...windows.map((each) => each.speechProbability)),
    meanLogProbability: all.length === 0 ? null : all.reduce((sum, value) => sum + value, 0) / all.length,
    segments: wantsWords ? segments : segments.map((segment) => ({ ...segment, words: null })),
    transcribedS,
  };
}
