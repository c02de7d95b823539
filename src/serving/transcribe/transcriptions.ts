import { ServiceError } from "../../contract/errors.ts";
import { countChars } from "../../contract/limits.ts";
import type { Usage } from "../../contract/replies.ts";
import { type AudioSource, skipSamples } from "../../core/audio-source.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  type Transcript,
  type TranscriptionTask,
} from "../../core/recogniser.ts";
import type { Stopper } from "../../core/stop-with.ts";
import type { KeyedSemaphore, Permit } from "../../limits/keyed-semaphore.ts";
import type { Caller } from "../prepare/request-reader.ts";
import { inSpan, PROVIDER_FACTS, recognitionFacts } from "../request-spans.ts";
import { RunningWork, withDeadline } from "../running-work.ts";
import { mapEngineError } from "../service-errors.ts";
import { type Metering, meterUsage } from "../telemetry.ts";

export interface TranscriptionDeps extends Metering {
  readonly recogniser: Recogniser | null;
  /** Limit on recordings being transcribed. */
  readonly places: KeyedSemaphore;
  /** Bytes of decoded audio, for a recogniser that holds all of a recording. */
  readonly audio: KeyedSemaphore;
  /** Longest transcription, in milliseconds. */
  readonly timeoutMs: number;
}

export interface TranscriptionRequest
  extends Pick<RecogniseOptions, "task" | "language" | "prompt" | "wantsWords"> {
  /** Unread sound. */
  readonly sound: AudioSource;
}

/** Transcript of a recording, once it is metered. */
export interface TranscribedRecording {
  readonly transcript: Transcript;
  /** Length of the whole recording, in seconds. */
  readonly durationS: number;
  readonly usage: Usage;
}

/** Produces every transcript that is requested by itself: a place, the recogniser, one durable commit. */
export class Transcriptions {
  readonly #deps: TranscriptionDeps;
  readonly #live = new RunningWork();

  constructor(deps: TranscriptionDeps) {
    this.#deps = deps;
  }

  get recogniserName(): string | null {
    return this.#deps.recogniser?.name ?? null;
  }

  /** Returns why every such request would be refused; `null` if it would not. */
  refusal(task: TranscriptionTask): ServiceError | null {
    const { recogniser } = this.#deps;
    if (recogniser === null) return noRecogniser();
    return task === "translate" && !recogniser.canTranslate ? cannotTranslate() : null;
  }

  /** Rejects with {@link ServiceError} or the caller's abort reason; then nothing is metered. */
  async transcribe(recording: TranscriptionRequest, caller: Caller): Promise<TranscribedRecording> {
    const work = this.#live.begin(caller.signal);
    try {
      return await this.#hear(recording, caller, work);
    } catch (error) {
      throw mapEngineError(error, caller.signal);
    } finally {
      work.end();
    }
  }

  /** Accepts nothing new, lets running transcriptions finish for `graceMs`, then stops them with a 502. */
  async drain(graceMs: number): Promise<void> {
    this.#deps.places.close();
    await this.#live.drain(graceMs);
  }

  async #hear(
    { sound, task = "transcribe", language, prompt, wantsWords }: TranscriptionRequest,
    { keyId, span }: Caller,
    stop: Stopper,
  ): Promise<TranscribedRecording> {
    const { recogniser, places, audio, telemetry, timeoutMs } = this.#deps;
    if (recogniser === null) throw noRecogniser();
    span.set(PROVIDER_FACTS);
    const place = await inSpan(span.begin("queue"), stop.signal, places.enter(keyId, 1, stop.signal));
    let room: Permit | null = null;
    try {
      const heldBytes = Math.ceil(recogniser.memoryBytesPerS * sound.boundS);
      if (heldBytes > 0) room = await audio.enter(keyId, heldBytes, stop.signal);
      const beganMs = performance.now();
      const hearing = span.begin("hear");
      const traceHeaders = hearing.headers;
      const options = { task, language, prompt, wantsWords, draft: null, traceHeaders };
      const counted = countedSound(sound);
      const listen = async (): Promise<Transcript> => {
        try {
          const transcript = await recogniser.recognise(counted, options, stop.signal);
          // Sound that the recogniser left unread counts towards the recording's length.
          await skipSamples(counted, Number.POSITIVE_INFINITY, stop.signal);
          return transcript;
        } catch (error) {
          throw asOfRequest(error, language);
        } finally {
          const facts = recognitionFacts(recogniser.name, counted);
          span.set(facts);
          hearing.set(facts);
        }
      };
      const heard = withDeadline(listen(), timeoutMs, stop, () => "the recogniser");
      const transcript = await inSpan(hearing, stop.signal, heard);
      const { durationS } = counted;
      telemetry.transcribed(durationS, (performance.now() - beganMs) / 1_000);
      const usage = {
        input_chars: countChars(prompt ?? ""),
        input_audio_seconds: durationS,
        output_audio_seconds: 0,
      };
      await meterUsage(this.#deps, keyId, usage);
      return { transcript, durationS, usage };
    } finally {
      room?.release();
      place.release();
    }
  }
}

function countedSound(sound: AudioSource): AudioSource & { readonly durationS: number } {
  let samples = 0;
  return {
    sampleRateHz: sound.sampleRateHz,
    boundS: sound.boundS,
    get durationS() {
      return samples / sound.sampleRateHz;
    },
    async read(count, signal) {
      const read = await sound.read(count, signal);
      samples += read.length;
      return read;
    },
  };
}

/** Maps what the recogniser cannot do to the field that asks for it. */
function asOfRequest(error: unknown, language: string | null): unknown {
  if (!(error instanceof RecogniserError)) return error;
  if (error.refused === "task") return cannotTranslate(error);
  if (error.refused === "length") {
    return new ServiceError(400, "file is too long for the recogniser: send it in pieces", { cause: error });
  }
  if (error.refused !== "language" || language === null) return error;
  return new ServiceError(
    400,
    `language "${language}" is not known to the recogniser: leave it out to have it detected, or send another`,
    { cause: error },
  );
}

function cannotTranslate(cause?: RecogniserError): ServiceError {
  return new ServiceError(
    400,
    "the recogniser cannot translate: ask /v1/audio/transcriptions for what is said, in its own language",
    { cause },
  );
}

function noRecogniser(): ServiceError {
  return new ServiceError(
    502,
    "no recogniser is configured: the operator of this server can set recogniser.kind to embedded or endpoint, and install the embedded one with `antiphon models pull recogniser`",
    { retryAfterMs: 60_000 },
  );
}
