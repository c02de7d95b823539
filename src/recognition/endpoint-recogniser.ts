import { setTimeout as sleep } from "node:timers/promises";
import { type AudioSource, skipSamples } from "../core/audio-source.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  shiftedSegment,
  type Transcript,
  type TranscriptionTask,
} from "../core/recogniser.ts";
import { type Stopper, stopWith } from "../core/stop-with.ts";
import { checkBaseUrl, classifyFailure, EndpointRefusal, postForm } from "./endpoint-call.ts";
import { readTranscript } from "./read-transcript.ts";
import { HELD_BYTES_PER_S, soundAsWav } from "./sound-wav.ts";

export interface EndpointRecogniserOptions {
  /** Base URL, such as `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** `null` sends none. */
  readonly apiKey: string | null;
  /** Limit for one recording, retries included. */
  readonly totalTimeoutMs: number;
  /** Delays before the second and later attempts, unless the endpoint asks for another. */
  readonly retryDelaysMs?: readonly number[];
}

/**
 * Opens a recogniser on an OpenAI-compatible endpoint (`/audio/transcriptions`, `/audio/translations`). The endpoint
 * decides whether results repeat. The key is sent only in the `Authorization` header. Throws a {@link
 * RecogniserError} if `baseUrl` cannot be used.
 */
export function openEndpointRecogniser(options: EndpointRecogniserOptions): Recogniser {
  return new EndpointRecogniser(options);
}

const RETRY_DELAYS_MS: readonly number[] = [250, 1_000];

const PATHS: Readonly<Record<TranscriptionTask, string>> = {
  transcribe: "/audio/transcriptions",
  translate: "/audio/translations",
};

/** Request fields that the endpoint accepts; reduced after it refused one by name. */
interface TranscriptionDialect {
  readonly format: "verbose_json" | "json";
  readonly takesGranularities: boolean;
}

class EndpointRecogniser implements Recogniser {
  readonly name: string;
  readonly memoryBytesPerS = HELD_BYTES_PER_S;
  /** Unknown before the first request. */
  readonly canTranslate = true;
  readonly #options: EndpointRecogniserOptions;
  readonly #url: string;
  readonly #calls = new Set<Stopper>();
  /** Per route: each may be served by another program. */
  readonly #dialects: Record<TranscriptionTask, TranscriptionDialect> = {
    transcribe: { format: "verbose_json", takesGranularities: true },
    // OpenAI's translation route has no granularities.
    translate: { format: "verbose_json", takesGranularities: false },
  };
  #isClosed = false;

  constructor(options: EndpointRecogniserOptions) {
    this.name = options.model;
    this.#options = options;
    this.#url = checkBaseUrl(options.baseUrl);
  }

  async recognise(sound: AudioSource, options: RecogniseOptions, signal: AbortSignal): Promise<Transcript> {
    signal.throwIfAborted();
    if (this.#isClosed) throw closedError();
    const { totalTimeoutMs } = this.#options;
    const call = stopWith([signal], { ms: totalTimeoutMs, late: () => timeoutError(totalTimeoutMs) });
    this.#calls.add(call);
    try {
      return await this.#recognised(sound, options, call.signal);
    } finally {
      call.end();
      this.#calls.delete(call);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const call of this.#calls) call.abort(closedError());
  }

  /** Transcribes, with retries. */
  async #recognised(sound: AudioSource, options: RecogniseOptions, signal: AbortSignal): Promise<Transcript> {
    const { task = "transcribe", startAtS = 0, onPartial, traceHeaders = {} } = options;
    const skipped = await skipSamples(sound, Math.round(startAtS * sound.sampleRateHz), signal);
    const { file, durationS } = await soundAsWav(sound, signal);
    const delaysMs = [...(this.#options.retryDelaysMs ?? RETRY_DELAYS_MS)];
    let dialect = this.#dialects[task];
    for (;;) {
      try {
        const form = createForm(file, this.name, options, dialect);
        const url = this.#url + PATHS[task];
        const answer = await postForm(url, form, this.#options.apiKey, traceHeaders, signal);
        const transcript = shiftTranscript(
          skipped / sound.sampleRateHz,
          readAnswer(answer, durationS, options),
        );
        this.#dialects[task] = dialect;
        onPartial?.(transcript);
        return transcript;
      } catch (thrown) {
        signal.throwIfAborted();
        const other = thrown instanceof EndpointRefusal ? narrowerDialect(dialect, thrown.body) : null;
        if (other !== null) {
          dialect = other;
          continue;
        }
        const { error, isRetryable, waitMs } = classifyFailure(thrown, options);
        const delayMs = isRetryable ? delaysMs.shift() : undefined;
        if (delayMs === undefined || (waitMs ?? delayMs) >= this.#options.totalTimeoutMs) throw error;
        await sleep(waitMs ?? delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    }
  }
}

function createForm(
  wav: Blob,
  model: string,
  { task, language, prompt, wantsWords }: RecogniseOptions,
  { format, takesGranularities }: TranscriptionDialect,
): FormData {
  const form = new FormData();
  form.append("file", wav, "speech.wav");
  form.append("model", model);
  form.append("response_format", format);
  form.append("temperature", "0");
  if (language !== null && task !== "translate") form.append("language", language);
  if (prompt !== null) form.append("prompt", prompt);
  if (format === "verbose_json" && takesGranularities) {
    form.append("timestamp_granularities[]", "segment");
    if (wantsWords) form.append("timestamp_granularities[]", "word");
  }
  return form;
}

function readAnswer(answer: unknown, durationS: number, { task, wantsWords }: RecogniseOptions): Transcript {
  if (task !== "translate") return readTranscript(answer, durationS, wantsWords);
  // Endpoints disagree on whether this is the language of the text or of the speech.
  return { ...readTranscript(answer, durationS, false), language: null };
}

/** Returns the dialect to try after a refusal that names an optional field, otherwise `null`. */
function narrowerDialect(dialect: TranscriptionDialect, refused: string): TranscriptionDialect | null {
  if (/granularit/i.test(refused) && dialect.format === "verbose_json" && dialect.takesGranularities) {
    return { ...dialect, takesGranularities: false };
  }
  if (/response_format|verbose_json/i.test(refused) && dialect.format === "verbose_json") {
    return { ...dialect, format: "json" };
  }
  return null;
}

/** Shifts the times of the rest of a clip to those of the whole clip. */
function shiftTranscript(byS: number, transcript: Transcript): Transcript {
  if (byS === 0) return transcript;
  const segments = transcript.segments.map((segment) => shiftedSegment(segment, byS));
  return { ...transcript, segments, transcribedS: transcript.transcribedS + byS };
}

function timeoutError(totalTimeoutMs: number): RecogniserError {
  return new RecogniserError(
    `The recogniser's endpoint took longer over a recording than recogniser.totalTimeoutMs (${totalTimeoutMs} ms). Retry, or raise it.`,
    { retryAfterMs: 2_000 },
  );
}

function closedError(): RecogniserError {
  return new RecogniserError("The recogniser is closed. Retry when the server is up again.", {
    retryAfterMs: 2_000,
  });
}
