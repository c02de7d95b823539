import type { Encoding } from "../../audio/encode/encoder.ts";
import { encodedSpeech, speakEncoded } from "../../core/encoded-speech.ts";
import { levelSpeech } from "../../core/level-speech.ts";
import { type TextPiece, writtenText } from "../../core/marked-text.ts";
import type { Span } from "../../core/span.ts";
import { type SpeechModel, type SpeechReport, silence } from "../../core/speech-model.ts";
import type { Stopper } from "../../core/stop-with.ts";
import type { Slot } from "../../limits/slot-utterance.ts";
import type { Lease } from "../../models/catalogue.ts";
import { buildScript } from "../prepare/build-script.ts";
import { parseWrittenText } from "../prepare/read-markup.ts";
import type { ResolvedRequest } from "../prepare/resolve-request.ts";
import { DeadlineTimer } from "../running-work.ts";
import type { PlaybackPacer } from "./playback-pacer.ts";
import { type MarkCollector, type ReplyChunk, toReplyChunk } from "./reply-chunk.ts";
import { speakDialogue } from "./speak-dialogue.ts";
import { speakLongInput } from "./speak-long-input.ts";
import type { StreamedText, TextStream } from "./streamed-text.ts";
import type { UtteranceStats } from "./utterance-stats.ts";

/** Part of a speech request that its frames depend on. */
export interface FrameRequest {
  readonly keyId: string;
  /** File format of the reply; each chunk holds some of its bytes. */
  readonly encoding: Encoding;
  /** Text of the open turn that the client sends while it is spoken; then no writer is used. */
  readonly streamedText?: StreamedText;
  /** Milliseconds that the client may take for more of it. Default: the limit for a frame. */
  readonly textTimeoutMs?: number;
  /** Whether it is played as it comes: then synthesis is paced, since the listener may leave. */
  readonly isPlayed: boolean;
  /** Lower limit of this request on the seconds ahead of playback. */
  readonly maxAheadS?: number;
  /** Called with each sentence of an authored turn when the voice takes it, with the space before it. */
  readonly onSentence?: (sentence: string) => void;
  /** Called with the first frame, when the audio of earlier turns is no longer needed. */
  readonly onFirstFrame?: () => void;
}

interface SpeechParts {
  readonly request: FrameRequest;
  readonly lease: Lease;
  readonly prepared: ResolvedRequest;
  readonly textStream: TextStream | null;
  readonly slot: Slot;
  readonly stats: UtteranceStats;
  readonly stop: Stopper;
  readonly pacer: PlaybackPacer;
  /** Longest wait for the next frame, in milliseconds. */
  readonly frameTimeoutMs: number;
  readonly marks: MarkCollector;
  /** Span until the first frame. */
  readonly toFirstAudio: Span;
}

/** Speech of an utterance, pulled chunk by chunk. */
interface SpeechFrames {
  /** Resolves to the next chunk, or the report after the last one. */
  next(): Promise<ReplyChunk | SpeechReport>;
  leave(): void;
}

/** Speaks a reply as a file, waiting for each chunk at most until the deadline. */
export function openSpeechFrames({
  request,
  lease,
  prepared,
  textStream,
  slot,
  marks,
  toFirstAudio,
  stats,
  stop,
  pacer,
  frameTimeoutMs,
}: SpeechParts): SpeechFrames {
  const written = parsedSentences(
    textStream?.sentences(() => slot.rest()),
    request.onSentence,
  );
  const script = buildScript(prepared, lease.preset, written, request.keyId, toFirstAudio.headers);
  const { silenceS, dialogue, longInput, loudness } = prepared;
  const model = loudness === undefined ? lease.model : levelSpeech(lease.model, loudness);
  const encoded = (frames: ReturnType<SpeechModel["speak"]>) =>
    encodedSpeech(frames, request.encoding, script.seed);
  const speech =
    silenceS !== undefined
      ? encoded(silence(silenceS))
      : dialogue !== undefined
        ? encoded(speakDialogue(model, { ...prepared, dialogue }, script, stop.signal))
        : longInput !== undefined
          ? encoded(speakLongInput(model, { ...prepared, longInput }, script, stop.signal))
          : speakEncoded(model, script, request.encoding, stop.signal);
  const awaited = () => (textStream?.isWriting === true ? textStream.source : "the speech model");
  const waits = new DeadlineTimer(Math.max(frameTimeoutMs, request.textTimeoutMs ?? 0), stop, awaited);
  const pause = () => (request.isPlayed ? pacer.wait(stats.aheadS, stop.signal, request.maxAheadS) : null);
  let isOver = false;
  return {
    next: async () => {
      const askedS = stats.nowS;
      for (let wait = pause(); wait !== null; wait = pause()) {
        slot.pause();
        await wait;
      }
      const turn = slot.work(stats.aheadS);
      if (turn !== null) await turn;
      // The model will run out of text, so its slot is free for others until more arrives.
      if (textStream?.isWriting === true) slot.rest();
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
      const chunk = toReplyChunk(step.value);
      marks.add(chunk.marks);
      return chunk;
    },
    leave() {
      waits.end();
      // Not awaited: a hanging engine must not block this request.
      if (!isOver) speech.return(NO_REPORT).catch(() => {});
    },
  };
}

/** Reads the marks of each sentence, and reports it when it is taken. */
function parsedSentences(
  sentences: AsyncGenerator<TextPiece, void, void> | undefined,
  onSentence: ((sentence: string) => void) | undefined,
): AsyncGenerator<TextPiece, void, void> | undefined {
  if (sentences === undefined) return undefined;
  return (async function* () {
    for await (const sentence of sentences) {
      onSentence?.(writtenText(sentence));
      yield typeof sentence === "string" ? parseWrittenText(sentence) : sentence;
    }
  })();
}

const NO_REPORT: SpeechReport = { stop: "length", spoken: "" };
