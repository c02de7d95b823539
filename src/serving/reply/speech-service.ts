import type { Encoding } from "../../audio/encode/encoder.ts";
import { ServiceError } from "../../contract/errors.ts";
import type { Usage } from "../../contract/replies.ts";
import type { Marks } from "../../contract/spoken.ts";
import { abortable } from "../../core/abortable.ts";
import { encodedSpeech, speakEncoded } from "../../core/encoded-speech.ts";
import { type TextPiece, writtenText } from "../../core/marked-text.ts";
import type { ChosenVoice } from "../../core/script.ts";
import { NO_SPAN, type Span } from "../../core/span.ts";
import { type SpeechReport, silence } from "../../core/speech-model.ts";
import type { Stopper, TimeLimit } from "../../core/stop-with.ts";
import type { Writer, WriterTokens } from "../../core/writer.ts";
import { type CheckpointSlotOptions, CheckpointSlots } from "../../limits/checkpoint-slots.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import type { Slot, UtteranceSlotOptions } from "../../limits/utterance-slots.ts";
import type { Lease } from "../../models/catalogue.ts";
import type { PublicModel } from "../../models/public-models.ts";
import { buildScript } from "../prepare/build-script.ts";
import { unknownVoice, type VoiceChoice } from "../prepare/choose-voice.ts";
import { parseWrittenText } from "../prepare/read-markup.ts";
import type { Caller } from "../prepare/request-reader.ts";
import type { ResolvedRequest } from "../prepare/resolve-request.ts";
import { minSpeechS } from "../prepare/speech-length.ts";
import { failureType, inSpan, speechFacts, spokenFacts } from "../request-spans.ts";
import { DeadlineTimer, RunningWork, withDeadline } from "../running-work.ts";
import { mapEngineError } from "../service-errors.ts";
import { type Metering, meterUsage, type UtteranceEnd } from "../telemetry.ts";
import type { HistoryTranscriber } from "../transcribe/history-transcriber.ts";
import type { CustomVoices } from "../voices/custom-voices.ts";
import {
  type AuthoredText,
  beginWriting,
  boundedSentences,
  type WritingDeps,
  type WritingRequest,
  type WrittenReply,
} from "./authored-text.ts";
import { PlaybackPacer } from "./playback-pacer.ts";
import { MarkCollector, type ReplyChunk, toReplyChunk } from "./reply-chunk.ts";
import { replyMeta } from "./reply-meta.ts";
import type { StreamedText, TextStream } from "./streamed-text.ts";
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

export interface SpeechRequest extends Pick<Caller, "keyId" | "signal" | "span">, WritingRequest {
  /** File format of the reply; each chunk holds some of its bytes. */
  readonly encoding: Encoding;
  /** Text of the open turn that the client sends while it is spoken; then no writer is used. */
  readonly streamedText?: StreamedText;
  /** Time limit of the reply. Default: as long as it is read. */
  readonly limit?: TimeLimit;
  /** Whether audio is handed over as it comes: then what a client took before it left is metered. */
  readonly isStreamed: boolean;
  /** Whether it is played as it comes: then synthesis is paced, since the listener may leave. */
  readonly isPlayed: boolean;
  /** Lower limit of this request on the seconds ahead of playback. */
  readonly maxAheadS?: number;
  /** Called with each sentence of an authored turn when the voice takes it, with the space before it. */
  readonly onSentence?: (sentence: string) => void;
  /** Called with the first frame, when the audio of earlier turns is no longer needed. */
  readonly onFirstFrame?: () => void;
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
  readonly #nowMs: () => number;
  readonly #live = new RunningWork();

  constructor(deps: SpeechServiceDeps, options: SpeechServiceOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#admissions = new CheckpointSlots(options, options.checkpointSlots ?? new Map());
    this.#pacer = new PlaybackPacer(options.maxAheadS);
    this.#nowMs = options.nowMs ?? (() => performance.now());
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
    let coming: AuthoredText | null = null;
    // A client that leaves in the middle has had the text before that.
    let isOwed = false;
    try {
      coming = await beginWriting(this.#writingDeps(), prepared, request, stop);
      await withDeadline(coming.begin(), loadTimeoutMs, stop, () => "the writer");
      isOwed = true;
      const written = yield* boundedSentences(coming, prepared.maxTokens ?? null, stop, loadTimeoutMs);
      isOwed = false;
      await this.#meter(request, usage);
      return written;
    } catch (error) {
      isOwed &&= request.signal.aborted;
      throw mapEngineError(error, request.signal);
    } finally {
      coming?.release();
      if (isOwed) await this.#meter(request, usage);
      stop.end();
    }
  }

  async *speak(
    given: ResolvedRequest,
    request: SpeechRequest,
  ): AsyncGenerator<ReplyChunk, SpeechOutcome, void> {
    const utterance = { model: given.model.card.id, format: request.encoding };
    const stats = new UtteranceStats(this.#deps.telemetry, utterance, this.#nowMs);
    const all = new MarkCollector();
    let coming: TextStream | null = null;
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
      const { conversation: talk, model } = given;
      const voice = await this.#voiceOf(given, request, stop);
      const textVoices = await this.#textVoicesOf(given, request, stop);
      const heard = (await this.#deps.historyTranscriber?.transcribe(
        talk,
        request.keyId,
        stop.signal,
        span,
        model.reads,
      )) ?? {
        conversation: talk,
        turns: [],
      };
      const prepared = {
        ...given,
        conversation: heard.conversation,
        ...(voice === undefined ? {} : { voice }),
        ...(textVoices === undefined ? {} : { textVoices }),
      };
      coming = await this.#coming(prepared, request, stop);
      if (request.streamedText !== undefined) stats.markTextArrived();
      const cut = (reason: ServiceError): void => {
        stop.abort(reason);
        request.onEnded?.(reason);
      };
      let report = WORDLESS;
      if (coming?.hasNoText !== true) {
        stats.markQueued();
        const entering = this.#admissions
          .of(prepared.model.checkpoint)
          .enter(request.keyId, stop.signal, cut, coming !== null, minSpeechS(prepared));
        slot = await inSpan(span.begin("queue"), stop.signal, entering);
        stats.markAdmitted();
        toFirstAudio = span.begin("first audio");
        lease = await this.#lease(prepared.model, stop);
        const speaking = { request, lease, prepared, coming, slot, all, toFirstAudio };
        const frames = this.#frames(speaking, stop, stats);
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
      const marks = all.marks();
      const meta = replyMeta({
        stats: stats.meta(report.stop),
        loadMs: lease?.loadMs,
        heard: heard.turns,
        writer: coming?.meta() ?? null,
        report,
        marks,
        cautions: [...(given.cautions ?? []), ...(request.streamedText?.cautions ?? [])],
      });
      const finishedHead = report.finishedHead ?? NOTHING;
      const tokens = coming?.tokens ?? null;
      return { text, audioS, frames, usage, tokens, finishedHead, marks, meta };
    } catch (error) {
      settled ||= !request.signal.aborted;
      end = request.signal.aborted && error === request.signal.reason ? "gone" : "failed";
      toFirstAudio.end(failureType(error, stop.signal));
      throw mapEngineError(error, request.signal);
    } finally {
      stats.recordEnd(ending());
      toFirstAudio.end();
      coming?.release();
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

  /** Returns the chosen voice, with its recording; `undefined` if the label and its turns decide. */
  async #voiceOf(
    { voice, customVoice, otherCustomVoices = [], model }: ResolvedRequest,
    { keyId }: SpeechRequest,
    stop: Stopper,
  ): Promise<ChosenVoice | undefined> {
    const [anOwn] = customVoice === undefined ? otherCustomVoices : [customVoice];
    if (anOwn === undefined) return voice;
    const { customVoices } = this.#deps;
    if (customVoices === undefined) throw unknownVoice(anOwn, model.card);
    if (otherCustomVoices.length > 0)
      await abortable(customVoices.check(otherCustomVoices, keyId, model.card), stop.signal);
    if (customVoice === undefined) return voice;
    return abortable(customVoices.find(customVoice, keyId, model.card), stop.signal);
  }

  /** Returns the voices that the text names, with their recordings. */
  async #textVoicesOf(
    { textVoices, model }: ResolvedRequest,
    { keyId }: SpeechRequest,
    stop: Stopper,
  ): Promise<ResolvedRequest["textVoices"]> {
    if (textVoices === undefined) return undefined;
    const found: (readonly [string, VoiceChoice])[] = [];
    for (const [name, choice] of Object.entries(textVoices)) {
      const { customVoice: own } = choice;
      const { customVoices } = this.#deps;
      if (own !== undefined && customVoices === undefined) throw unknownVoice(own, model.card);
      const chosen = own && customVoices?.find(own, keyId, model.card);
      found.push([name, chosen === undefined ? choice : { voice: await abortable(chosen, stop.signal) }]);
    }
    return Object.fromEntries(found);
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
  async #coming(
    prepared: ResolvedRequest,
    request: SpeechRequest,
    stop: Stopper,
  ): Promise<TextStream | null> {
    if (prepared.conversation.open.text !== null) return null;
    const coming = request.streamedText ?? (await beginWriting(this.#writingDeps(), prepared, request, stop));
    try {
      await withDeadline(coming.begin(), this.#options.loadTimeoutMs, stop, () => coming.source);
      return coming;
    } catch (error) {
      coming.release();
      throw error;
    }
  }

  #writingDeps(): WritingDeps {
    const { writer, writing, telemetry } = this.#deps;
    if (writer === null) throw noWriter();
    return { writer, writing, telemetry };
  }

  /** Speaks the reply as a file, waiting for each chunk at most until the deadline. */
  #frames(
    { request, lease, prepared, coming, slot, all, toFirstAudio }: Speaking,
    stop: Stopper,
    stats: UtteranceStats,
  ): Frames {
    const written = told(
      coming?.sentences(() => slot.rest()),
      request.onSentence,
    );
    const script = buildScript(prepared, lease.preset, written, request.keyId, toFirstAudio.headers);
    const { silenceS } = prepared;
    const speech =
      silenceS === undefined
        ? speakEncoded(lease.model, script, request.encoding, stop.signal)
        : encodedSpeech(silence(silenceS), request.encoding, script.seed);
    const awaited = () => (coming?.isWriting === true ? coming.source : "the speech model");
    const waits = new DeadlineTimer(this.#options.frameTimeoutMs, stop, awaited);
    const held = () =>
      request.isPlayed ? this.#pacer.wait(stats.aheadS, stop.signal, request.maxAheadS) : null;
    let isOver = false;
    return {
      next: async () => {
        const askedS = stats.nowS;
        for (let wait = held(); wait !== null; wait = held()) {
          slot.pause();
          await wait;
        }
        const turn = slot.work(stats.aheadS);
        if (turn !== null) await turn;
        // The model computes what it has and then has nothing: its slot is free for others until there is text.
        if (coming?.isWriting === true) slot.rest();
        const step = await stats.measureWait(waits.limit(speech.next()), request.streamedText);
        if (step.done) {
          isOver = true;
          return step.value;
        }
        if (stats.frames === 0) request.onFirstFrame?.();
        // A frame that waited for the client's text is not late.
        stats.recordFrame(step.value.sampleCount, Math.max(askedS, request.streamedText?.lastArrivalS ?? 0));
        if (stats.frames > 0) toFirstAudio.end();
        slot.rest();
        const piece = toReplyChunk(step.value);
        all.add(piece.marks);
        return piece;
      },
      leave() {
        waits.end();
        // Not awaited: a hanging engine must not block this request.
        if (!isOver) speech.return(NO_REPORT).catch(() => {});
      },
    };
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

interface Speaking {
  readonly request: SpeechRequest;
  readonly lease: Lease;
  readonly prepared: ResolvedRequest;
  readonly coming: TextStream | null;
  readonly slot: Slot;
  readonly all: MarkCollector;
  /** Span until the first frame. */
  readonly toFirstAudio: Span;
}

/** Speech of an utterance, pulled chunk by chunk. */
interface Frames {
  /** Resolves to the next chunk, or the report after the last one. */
  next(): Promise<ReplyChunk | SpeechReport>;
  leave(): void;
}

/** Reads the marks of each sentence, and reports it when it is taken. */
function told(
  sentences: AsyncGenerator<TextPiece, void, void> | undefined,
  tell: ((sentence: string) => void) | undefined,
): AsyncGenerator<TextPiece, void, void> | undefined {
  if (sentences === undefined) return undefined;
  return (async function* () {
    for await (const sentence of sentences) {
      tell?.(writtenText(sentence));
      yield typeof sentence === "string" ? parseWrittenText(sentence) : sentence;
    }
  })();
}

function noWriter(): ServiceError {
  return new ServiceError(502, "no writer is configured: give the open turn its text, or set writer.kind", {
    retryAfterMs: 60_000,
  });
}

const NOTHING = new Uint8Array(0);
/** Report of a reply of function calls only. */
const WORDLESS: SpeechReport = { stop: "finished", spoken: "" };
const NO_REPORT: SpeechReport = { stop: "length", spoken: "" };

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
