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
  /** Seconds of a clip that are transcribed. Default: 900. */
  readonly maxS?: number;
  /** Limit for 30 s of sound, after which the thread is replaced. Default: 120,000. */
  readonly deadlineMs?: number;
  /** Logs that the thread failed and is being replaced. */
  readonly onFailure?: (message: string) => void;
  /** Logs that it answers again. */
  readonly onRecovery?: (message: string) => void;
  /** Starts a thread that answers as `whisper-thread.ts` does. */
  readonly startThread?: (site: WhisperThreadData) => Worker;
}

const MAX_S = 900;
const DEADLINE_MS = 120_000;
const RETRY_MS = 1_000;
/** Heap limit of the thread, which uses 15 MB. */
const HEAP_MB = 96;
const NAME = "the thread that hears";

/**
 * Opens a converted recogniser in a thread of its own. Windows of 30 s are queued by how much of their clip is
 * already transcribed, so a long recording does not delay a short one; the number of open clips is limited elsewhere,
 * per key. A thread that dies or hangs fails its current window and is replaced.
 *
 * @throws RecogniserFilesError when the folder is incomplete; RecogniserError when it cannot be opened
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
  /** Stop flags of the clips in progress. */
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
    if (isTranslation && !this.canTranslate)
      throw new RecogniserError(
        "The recogniser knows English alone, and cannot translate. Ask for a transcription instead.",
        { refused: "task" },
      );
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
          // New clips go before those that are partly transcribed.
          rank: options.isLive === true ? -1 : fromS,
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
  // A small young generation: tensors are outside the heap.
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
 * Returns Whisper's name of a language, ignoring a region (`pt-BR`).
 *
 * @param known languages of the model; empty if English only
 * @returns `null` for an unknown language
 */
export function whisperLanguage(code: string, known: readonly string[]): string | null {
  const wanted = isoLanguage(code.toLowerCase().split(/[-_]/)[0]!);
  return (known.length === 0 ? ["en"] : known).find((name) => isoLanguage(name) === wanted) ?? null;
}

function withIsoLanguage(transcript: Transcript): Transcript {
  return { ...transcript, language: transcript.language && isoLanguage(transcript.language) };
}

/** Returns the ISO 639 code of Whisper's language name. */
export function isoLanguage(name: string): string {
  return languageCode(name) ?? name;
}

function unknownLanguage(code: string, known: readonly string[]): RecogniserError {
  const codes = (known.length === 0 ? ["en"] : known).map(isoLanguage).sort();
  // A client's input: shortened, without characters that are unsafe in logs and terminals.
  const printable = code.replaceAll(/[^\p{L}\p{N}_-]/gu, "?").slice(0, 20);
  return new RecogniserError(
    `The recogniser does not know the language '${printable}'. ` +
      `Leave \`language\` out, or give one of: ${codes.join(", ")}.`,
    { refused: "language" },
  );
}

/** Transcribes one window that begins `fromS` seconds into the sound. */
type TranscribeWindow = (request: WindowRequest, fromS: number) => Promise<WindowTranscript>;

/**
 * Transcribes a sound of any length in windows of up to 30 s, each from the pause where the last one ended. The first
 * detected language applies to the rest. Holds at most one window.
 *
 * @param maxS seconds that are transcribed
 */
async function transcribeSound(
  sound: AudioSource,
  { task = "transcribe", language, prompt, draft, wantsWords, startAtS = 0, onPartial }: RecogniseOptions,
  maxS: number,
  transcribeWindow: TranscribeWindow,
  signal: AbortSignal,
): Promise<Transcript> {
  const { sampleRateHz } = sound;
  // One more sample shows whether the sound goes on.
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
        // A copy, because its buffer is transferred to the thread.
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
