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
  /** Writes authored turns; `null`: there are none. */
  readonly writer: Writer | null;
  /** Finds the words of turns that are sound alone; absent, such turns have none. */
  readonly historyTranscriber?: HistoryTranscriber;
  /** Finds voices by a recording; absent, there are none. */
  readonly customVoices?: Pick<CustomVoices, "find" | "check">;
  /** Turns being written: of everybody, and of one key. */
  readonly writing: KeyedSemaphore;
}

export interface SpeechServiceOptions extends UtteranceSlotOptions {
  /** Longest wait for the engine's next frame, in milliseconds. */
  readonly frameTimeoutMs: number;
  /** Longest wait for a model to load, in milliseconds. */
  readonly loadTimeoutMs: number;
  /** Seconds of speech that are made ahead of who plays it as it comes; 0 is no bound. */
  readonly maxAheadS: number;
  /** Of checkpoints that do not share the slots of this machine, by their names; none unless given. */
  readonly checkpointSlots?: ReadonlyMap<string, CheckpointSlotOptions>;
}

/** Who asks to have something spoken, and how. */
export interface SpeechRequest extends Pick<Caller, "keyId" | "signal" | "span">, WritingRequest {
  /** The file that the reply is made into; each piece of it is some bytes of that. */
  readonly encoding: Encoding;
  /** The open turn's words, where they are given while it is spoken; nobody writes it then. */
  readonly streamedText?: StreamedText;
  /** Longest that the reply may take, and what ends it then; without it, as long as it is read. */
  readonly limit?: TimeLimit;
  /** A stream hands audio over as it comes: what a client took before it left is metered. */
  readonly isStreamed: boolean;
  /** It is played as it comes: what is made ahead of that is bounded, since whoever listens may leave. */
  readonly isPlayed: boolean;
  /** Seconds that may be made ahead of who plays it, where that is less than for everybody. */
  readonly maxAheadS?: number;
  /** Told of each sentence of an authored turn when the voice takes it, with the space that parts it from the one before. */
  readonly onSentence?: (sentence: string) => void;
  /** Told with the first frame: the audio of earlier turns is needed no more. */
  readonly onFirstFrame?: () => void;
  /** Told when the utterance is ended although nothing is asked of it: whoever takes its audio waits for something else. */
  readonly onEnded?: (reason: ServiceError) => void;
}

/** What there is to say once the last frame is out and metered. */
export interface SpeechOutcome {
  /** The text that was spoken. */
  readonly text: string;
  readonly audioS: number;
  readonly frames: number;
  readonly usage: Usage;
  /** What the writer has taken; `null` where nobody wrote or counts. */
  readonly tokens: WriterTokens | null;
  /** What may stand in place of the file's first bytes where it is kept: as many bytes, maybe none. */
  readonly finishedHead: Uint8Array;
  /** What was said when, in `meta` too. */
  readonly marks: Marks;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Of a reply that is left midway: what its generator is given to end with. */
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
 * The one path of every reply. Of a spoken one: a slot, a model, frames as the consumer pulls them, one durable commit.
 * What comes is a file, a piece a frame (of `pcm` 1920 samples but for the last). Throws {@link ServiceError}, or the
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

  /** Utterances that are computed just now. */
  get active(): number {
    return this.#admissions.active;
  }

  /** Utterances that have begun and wait: for a slot, for their client, for words, or to be less far ahead. */
  get paused(): number {
    return this.#admissions.paused;
  }

  /** Requests that wait for their first slot. */
  get queued(): number {
    return this.#admissions.queued;
  }

  /** Why a further request of the key would be refused, so that nothing need be read of it; `null` where it would not. */
  refusalFor(keyId: string): ServiceError | null {
    return this.#admissions.refusalFor(keyId);
  }

  /** Whether functions that a request gives the writer may be called. */
  get callsTools(): boolean {
    return this.#deps.writer?.callsTools === true;
  }

  /**
   * Has an authored turn written and not spoken: its sentences as they come, each with the space that parts it from the
   * one before. One durable commit of what it took.
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
    // Whoever leaves in the middle has had the words before that.
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
    // Where nobody asks for the next piece, the client went, or was cut.
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
   * Takes nothing new, lets what is being spoken finish for `graceMs`, then stops it with a 502. What is played is made to
   * its end as fast as it is taken: nobody else needs the time.
   */
  async drain(graceMs: number): Promise<void> {
    this.#admissions.close();
    this.#pacer.lift();
    this.#deps.writing.close();
    this.#deps.historyTranscriber?.close();
    await this.#live.drain(graceMs);
  }

  /** Whose voice was asked for, found; `undefined` where that is for the label and its turns to say. */
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

  /** The voices that the text names, those by recordings found. */
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
   * The words of an open turn that came without any, once the first sentence is there: it is waited for no longer than a
   * model, since weights may be on their way. Writing has slots of its own; it takes none of those that speak. A reply
   * that only calls functions ends without one.
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

  /** The engine's speech as a file, each piece waited for no longer than the deadline. */
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
        // It may compute what it has, but soon has nothing: its slot is another's until there are words.
        if (coming?.isWriting === true) slot.rest();
        const step = await stats.measureWait(waits.limit(speech.next()), request.streamedText);
        if (step.done) {
          isOver = true;
          return step.value;
        }
        if (stats.frames === 0) request.onFirstFrame?.();
        // A frame that waited for its client's words is not late.
        stats.recordFrame(step.value.sampleCount, Math.max(askedS, request.streamedText?.lastArrivalS ?? 0));
        if (stats.frames > 0) toFirstAudio.end();
        slot.rest();
        const piece = toReplyChunk(step.value);
        all.add(piece.marks);
        return piece;
      },
      leave() {
        waits.end();
        // Not awaited: an engine that hangs must not hold this request too.
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

/** All that an utterance is spoken from. */
interface Speaking {
  readonly request: SpeechRequest;
  readonly lease: Lease;
  readonly prepared: ResolvedRequest;
  readonly coming: TextStream | null;
  readonly slot: Slot;
  readonly all: MarkCollector;
  /** Lasts until the first frame. */
  readonly toFirstAudio: Span;
}

/** The speech of an utterance, pulled a piece at a time. */
interface Frames {
  /** The next piece, or the report that follows the last one. */
  next(): Promise<ReplyChunk | SpeechReport>;
  /** Nothing more is asked for. */
  leave(): void;
}

/** The same sentences with their marks read, each told when it is taken. */
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
/** Of a reply that calls functions and says nothing. */
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
