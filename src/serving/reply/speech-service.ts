import { ServiceError } from "../../contract/errors.ts";
import type { Usage } from "../../contract/replies.ts";
import type { Marks } from "../../contract/spoken.ts";
import { NO_SPAN } from "../../core/span.ts";
import type { SpeechReport } from "../../core/speech-model.ts";
import type { Stopper, TimeLimit } from "../../core/stop-with.ts";
import type { Writer, WriterTokens } from "../../core/writer.ts";
import { type CheckpointSlotOptions, CheckpointSlots } from "../../limits/checkpoint-slots.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import type { Slot, UtteranceSlotOptions } from "../../limits/slot-utterance.ts";
import type { Lease } from "../../models/catalogue.ts";
import type { PublicModel } from "../../models/public-models.ts";
import type { Caller } from "../prepare/request-reader.ts";
import type { ResolvedRequest } from "../prepare/resolve-request.ts";
import { minSpeechS } from "../prepare/speech-length.ts";
import { failureType, inSpan, speechFacts, spokenFacts } from "../request-spans.ts";
import { RunningWork, withDeadline } from "../running-work.ts";
import { mapEngineError } from "../service-errors.ts";
import { type Metering, meterUsage, type UtteranceEnd } from "../telemetry.ts";
import type { HistoryTranscriber } from "../transcribe/history-transcriber.ts";
import { type CustomVoices, findRequestVoices } from "../voices/custom-voices.ts";
import {
  type AuthoredText,
  beginWriting,
  boundedSentences,
  noWriter,
  type WritingDeps,
  type WritingRequest,
  type WrittenReply,
} from "./authored-text.ts";
import { PlaybackPacer } from "./playback-pacer.ts";
import { MarkCollector, type ReplyChunk } from "./reply-chunk.ts";
import { replyMeta, type TranscribedTurn } from "./reply-meta.ts";
import { type FrameRequest, openSpeechFrames } from "./speech-frames.ts";
import type { TextStream } from "./streamed-text.ts";
import { UtteranceStats } from "./utterance-stats.ts";

export interface SpeechServiceDeps extends Metering {
  lease(model: PublicModel, signal: AbortSignal): Promise<Lease>;
  /** Writer of authored turns; `null` if there is none. */
  readonly writer: Writer | null;
  /** Transcribes audio-only turns; absent, they have no text. */
  readonly historyTranscriber?: HistoryTranscriber;
  /** Finds custom voices; absent, there are none. */
  readonly customVoices?: Pick<CustomVoices, "find" | "check">;
  /** Limit on turns being written. */
  readonly writing: KeyedSemaphore;
}

export interface SpeechServiceOptions extends UtteranceSlotOptions {
  /** Longest wait for the next frame, in milliseconds. */
  readonly frameTimeoutMs: number;
  /** Longest wait for a model to load, in milliseconds. */
  readonly loadTimeoutMs: number;
  /** Seconds of speech that synthesis may be ahead of real-time playback; 0 is no limit. */
  readonly maxAheadS: number;
  /** Slots of checkpoints that do not share those of this machine, by name. */
  readonly checkpointSlots?: ReadonlyMap<string, CheckpointSlotOptions>;
}

export interface SpeechRequest extends Pick<Caller, "signal">, WritingRequest, FrameRequest {
  /** Text of an authored turn that was begun in advance. */
  readonly preparedText?: AuthoredText | null;
  /** Time limit of the reply. Default: as long as it is read. */
  readonly limit?: TimeLimit;
  /** Whether audio is handed over as it comes: then what a client took before it left is metered. */
  readonly isStreamed: boolean;
  /** Called with the wait for a slot, when it begins. */
  readonly onQueued?: (slot: Promise<unknown>) => void;
  /** Called when the utterance is ended while the consumer waits for something else. */
  readonly onEnded?: (reason: ServiceError) => void;
}

/** Report of a reply after its last frame and metering. */
export interface SpeechOutcome {
  /** Spoken text. */
  readonly text: string;
  readonly audioS: number;
  readonly frames: number;
  readonly usage: Usage;
  /** Tokens of the writer; `null` if none wrote or none were counted. */
  readonly tokens: WriterTokens | null;
  /** Replacement for the first bytes of a stored file, of the same length; may be empty. */
  readonly finishedHead: Uint8Array;
  /** Marks, which are in `meta` too. */
  readonly marks: Marks;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Outcome of a reply whose consumer stops early. */
export const ABANDONED_OUTCOME: SpeechOutcome = {
  text: "",
  audioS: 0,
  frames: 0,
  tokens: null,
  finishedHead: new Uint8Array(0),
  usage: { input_chars: 0, input_audio_seconds: 0, output_audio_seconds: 0 },
  marks: {},
  meta: {},
};

/**
 * Produces every reply. For a spoken one: a slot, a model, frames as the consumer pulls them, one durable commit.
 * Yields a file, a chunk per frame (of `pcm` 1920 samples except the last). Throws {@link ServiceError}, or the
 * request's abort reason.
 */
export class SpeechService {
  readonly #deps: SpeechServiceDeps;
  readonly #options: SpeechServiceOptions;
  readonly #admissions: CheckpointSlots;
  readonly #pacer: PlaybackPacer;
  readonly #live = new RunningWork();

  constructor(deps: SpeechServiceDeps, options: SpeechServiceOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#admissions = new CheckpointSlots(options, options.checkpointSlots ?? new Map());
    this.#pacer = new PlaybackPacer(options.maxAheadS);
  }

  get active(): number {
    return this.#admissions.active;
  }

  get paused(): number {
    return this.#admissions.paused;
  }

  get queued(): number {
    return this.#admissions.queued;
  }

  /** Returns why a further request of the key would be refused, before its body is read; `null` if it would not. */
  refusalFor(keyId: string): ServiceError | null {
    return this.#admissions.refusalFor(keyId);
  }

  get callsTools(): boolean {
    return this.#deps.writer?.callsTools === true;
  }

  /**
   * Begins to write an authored turn that may not be wanted. Nothing is metered before it is passed to {@link speak}; it has to be
   * released.
   */
  async beginText(prepared: ResolvedRequest, keyId: string, signal: AbortSignal): Promise<AuthoredText> {
    const text = await beginWriting(this.#writingDeps(), prepared, { keyId, span: NO_SPAN }, { signal });
    // A failure is thrown again to the reply that takes it.
    text.begin().catch(() => {});
    return text;
  }

  /**
   * Writes an authored turn without speaking it. Yields its sentences, each with the space before it, and commits its
   * usage once.
   */
  async *write(
    prepared: ResolvedRequest,
    request: WritingRequest & Pick<Caller, "signal">,
  ): AsyncGenerator<string, WrittenReply, void> {
    const stop = this.#live.begin(request.signal);
    const { chars: input_chars, audioS: input_audio_seconds } = prepared.input;
    const usage = { input_chars, input_audio_seconds, output_audio_seconds: 0 };
    const { loadTimeoutMs } = this.#options;
    let textStream: AuthoredText | null = null;
    // Whether the text so far must be metered: a client that leaves midway has received it.
    let isOwed = false;
    try {
      textStream = await beginWriting(this.#writingDeps(), prepared, request, stop);
      await withDeadline(textStream.begin(), loadTimeoutMs, stop, () => "the writer");
      isOwed = true;
      const written = yield* boundedSentences(textStream, prepared.maxTokens ?? null, stop, loadTimeoutMs);
      isOwed = false;
      await this.#meter(request, usage);
      return written;
    } catch (error) {
      isOwed &&= request.signal.aborted;
      throw mapEngineError(error, request.signal);
    } finally {
      textStream?.release();
      if (isOwed) await this.#meter(request, usage);
      stop.end();
    }
  }

  async *speak(
    given: ResolvedRequest,
    request: SpeechRequest,
  ): AsyncGenerator<ReplyChunk, SpeechOutcome, void> {
    const utterance = { model: given.model.card.id, format: request.encoding };
    const stats = new UtteranceStats(this.#deps.telemetry, utterance, this.#options.nowMs);
    const marks = new MarkCollector();
    let textStream: TextStream | null = null;
    let slot: Slot | null = null;
    let lease: Lease | null = null;
    let settled = false;
    let end: UtteranceEnd | null = null;
    const { span } = request;
    span.set(speechFacts(given, request.encoding, request.isStreamed));
    // If the consumer stops asking, its client has left or was cut.
    const ending = () => end ?? (stop.signal.reason instanceof ServiceError ? "failed" : "gone");
    span.atEnd(() => spokenFacts(stats, inputCharsOf(given, request), ending()));
    let toFirstAudio = NO_SPAN;
    const stop = this.#live.begin(request.signal, request.limit);
    try {
      const isWritten = given.conversation.open.text === null && request.streamedText === undefined;
      if (isWritten && this.#deps.writer === null) throw noWriter();
      const { prepared, turns } = await this.#complete(given, request, stop);
      textStream = await this.#textStream(prepared, request, stop);
      if (request.streamedText !== undefined) stats.markTextArrived();
      const cut = (reason: ServiceError): void => {
        stop.abort(reason);
        request.onEnded?.(reason);
      };
      let report: SpeechReport = { stop: "finished", spoken: "" };
      if (textStream?.hasNoText !== true) {
        stats.markQueued();
        const isBegun = textStream !== null;
        const isUrgent = request.isPlayed && (!isBegun || request.streamedText !== undefined);
        const traits = { isBegun, isUrgent, minSpeechS: minSpeechS(prepared) };
        const slots = this.#admissions.of(prepared.model.checkpoint);
        const entering = slots.enter(request.keyId, stop.signal, cut, traits);
        request.onQueued?.(entering);
        slot = await inSpan(span.begin("queue"), stop.signal, entering);
        stats.markAdmitted();
        toFirstAudio = span.begin("first audio");
        lease = await this.#lease(prepared.model, stop);
        const frames = openSpeechFrames({
          ...{ request, lease, prepared, textStream, slot, marks, toFirstAudio, stats, stop },
          pacer: this.#pacer,
          frameTimeoutMs: this.#options.frameTimeoutMs,
        });
        try {
          let next = await frames.next();
          for (; !("stop" in next); next = await frames.next()) yield next;
          report = next;
        } finally {
          frames.leave();
        }
        slot.release();
      }
      const { audioS, frames } = stats;
      const usage = usageOf(prepared, request, audioS);
      settled = true;
      await this.#meter(request, usage);
      end = report.stop;
      const text = prepared.conversation.open.text ?? report.spoken.trimEnd();
      const meta = replyMeta({
        stats: stats.meta(report.stop),
        loadMs: lease?.loadMs,
        turns,
        writer: textStream?.meta() ?? null,
        report,
        marks: marks.marks(),
        cautions: [...(given.cautions ?? []), ...(request.streamedText?.cautions ?? [])],
      });
      const finishedHead = report.finishedHead ?? new Uint8Array(0);
      const tokens = textStream?.tokens ?? null;
      return { text, audioS, frames, usage, tokens, finishedHead, marks: marks.marks(), meta };
    } catch (error) {
      settled ||= !request.signal.aborted;
      end = request.signal.aborted && error === request.signal.reason ? "gone" : "failed";
      toFirstAudio.end(failureType(error, stop.signal));
      throw mapEngineError(error, request.signal);
    } finally {
      stats.recordEnd(ending());
      toFirstAudio.end();
      textStream?.release();
      lease?.release();
      slot?.release();
      const hasLeft = !settled && request.isStreamed && stats.frames > 0;
      try {
        if (hasLeft) await this.#meter(request, usageOf(given, request, stats.audioS));
      } finally {
        stop.end();
      }
    }
  }

  /**
   * Accepts nothing new, lets open replies finish for `graceMs`, then stops them with a 502. Playback is no longer
   * paced, since no other request needs the time.
   */
  async drain(graceMs: number): Promise<void> {
    this.#admissions.close();
    this.#pacer.lift();
    this.#deps.writing.close();
    this.#deps.historyTranscriber?.close();
    await this.#live.drain(graceMs);
  }

  /** Returns the request with the recordings of its voices and the transcripts of its audio-only turns. */
  async #complete(
    given: ResolvedRequest,
    { keyId, span }: SpeechRequest,
    { signal }: Stopper,
  ): Promise<{ readonly prepared: ResolvedRequest; readonly turns: readonly TranscribedTurn[] }> {
    const { customVoices, historyTranscriber } = this.#deps;
    const voices = await findRequestVoices(given, customVoices, keyId, signal);
    const { conversation, model } = given;
    const transcribed = await historyTranscriber?.transcribe(conversation, keyId, signal, span, model.reads);
    return {
      prepared: { ...given, ...voices, conversation: transcribed?.conversation ?? conversation },
      turns: transcribed?.turns ?? [],
    };
  }

  async #meter({ keyId, onMetered }: WritingRequest, usage: Usage): Promise<void> {
    await meterUsage(this.#deps, keyId, usage);
    onMetered?.();
  }

  /**
   * Returns the text of an authored or streamed turn once its first sentence is there, waiting as long as for a
   * model, since weights may have to be fetched. Writing has slots of its own. A reply of function calls only has no
   * sentence.
   */
  async #textStream(
    prepared: ResolvedRequest,
    request: SpeechRequest,
    stop: Stopper,
  ): Promise<TextStream | null> {
    if (prepared.conversation.open.text !== null) return null;
    const textStream =
      request.streamedText ??
      request.preparedText ??
      (await beginWriting(this.#writingDeps(), prepared, request, stop));
    try {
      await withDeadline(textStream.begin(), this.#options.loadTimeoutMs, stop, () => textStream.source);
      return textStream;
    } catch (error) {
      textStream.release();
      throw error;
    }
  }

  #writingDeps(): WritingDeps {
    const { writer, writing, telemetry } = this.#deps;
    if (writer === null) throw noWriter();
    return { writer, writing, telemetry };
  }

  async #lease(model: PublicModel, stop: Stopper): Promise<Lease> {
    const leasing = this.#deps.lease(model, stop.signal);
    try {
      return await withDeadline(leasing, this.#options.loadTimeoutMs, stop);
    } catch (error) {
      leasing.then((lease) => lease.release()).catch(() => {});
      throw error;
    }
  }
}

function inputCharsOf({ input }: ResolvedRequest, { streamedText: words }: SpeechRequest): number {
  return input.chars + (words?.chars ?? 0);
}

function usageOf(prepared: ResolvedRequest, request: SpeechRequest, audioS: number): Usage {
  return {
    input_chars: inputCharsOf(prepared, request),
    input_audio_seconds: prepared.input.audioS,
    output_audio_seconds: audioS,
  };
}
