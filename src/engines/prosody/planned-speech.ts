import type { RunQueued } from "../../core/run-queued.ts";
import type { Script } from "../../core/script.ts";
import {
  type FollowedVoice,
  type Frame,
  SpeechFailedError,
  type SpeechModel,
  type SpeechReport,
} from "../../core/speech-model.ts";
import { type Stopper, stopWith } from "../../core/stop-with.ts";
import type { AccentTag } from "../../text/phonemes/accent.ts";
import type { SegmentStyle } from "./piece-marks.ts";
import { PriorityMutex } from "./priority-mutex.ts";
import type { TextReader } from "./read-text.ts";
import { precedingTurnOf } from "./rhythm/rhythm.ts";
import { SegmentSource } from "./segments.ts";
import { type SentenceVoice, speakSegments } from "./utterance.ts";

/** Whose voice speaks a script, and what was heard for it; nothing where an engine hears nobody. */
export interface Cast {
  readonly voice: SentenceVoice;
  /** Who speaks a part that the text marks to be spoken otherwise. */
  voiceIn(style: SegmentStyle): Promise<SentenceVoice>;
  readonly heard?: FollowedVoice | null;
}

/** The utterances of an engine that plans sentences: they take turns, and end with it. */
export class PlannedSpeech {
  readonly mutex = new PriorityMutex();
  readonly #name: string;
  readonly #text: TextReader;
  readonly #closing = new AbortController();
  readonly #open = new Set<Stopper>();

  /** @param name what errors call the engine, as a sentence begins: `The voice` */
  constructor(name: string, text: TextReader) {
    this.#name = name;
    this.#text = text;
  }

  /** Aborts when the engine is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Runs of an engine's network, each when its turn comes. @param isUrgent whether nobody has heard anything yet */
  inTurn(signal: AbortSignal, isUrgent: () => boolean = () => false): RunQueued {
    const failed = (cause: unknown): never => {
      throw new SpeechFailedError(`${this.#name}'s network failed: try again.`, { cause });
    };
    return async (run) => {
      const result = await this.mutex.pass(() => run().catch(failed), signal, isUrgent());
      signal.throwIfAborted();
      return result;
    };
  }

  /** @throws SpeechFailedError when the engine is closed, and the signal's reason */
  requireOpen(signal: AbortSignal): void {
    if (this.closing.aborted) throw new SpeechFailedError(`${this.#name} is closed.`);
    signal.throwIfAborted();
  }

  /**
   * Speaks a script, as {@link SpeechModel.speak} does.
   *
   * @param cast finds the voice, whose runs wait their turn by `inTurn`
   * @param accent in which the text is read
   */
  async *speak(
    script: Script,
    signal: AbortSignal,
    cast: (inTurn: RunQueued, signal: AbortSignal) => Promise<Cast>,
    accent?: AccentTag,
  ): AsyncGenerator<Frame, SpeechReport, void> {
    this.requireOpen(signal);
    const stop = stopWith([signal]);
    this.#open.add(stop);
    const reader = this.#text.reading(script.lexicon ?? [], accent);
    const source = new SegmentSource(script.text, reader, stop.signal);
    let isHeard = false;
    try {
      const inTurn = this.inTurn(stop.signal, () => !isHeard);
      const { voice, voiceIn, heard = null } = await cast(inTurn, stop.signal);
      const report = yield* speakSegments({
        source,
        voice,
        voiceIn,
        precedingTurn: precedingTurnOf(script),
        maxFrames: script.delivery.maxFrames,
        phonemeOf: script.hasMouth === true ? this.#text.phonemeOf : null,
        signal: stop.signal,
        onHeard: () => {
          isHeard = true;
        },
      });
      return heard === null ? report : { ...report, voice: heard };
    } finally {
      source.release();
      stop.end();
      this.#open.delete(stop);
      // Stops a segment that is being planned ahead of someone who has left.
      stop.abort(new SpeechFailedError("Nobody takes it any more."));
    }
  }

  /** Ends what is open, and frees the text and what the engine has. Calling it twice is harmless. */
  async close(free: () => Promise<void>): Promise<void> {
    if (this.closing.aborted) return;
    this.#closing.abort(new SpeechFailedError(`${this.#name} was closed.`));
    for (const stop of this.#open) stop.abort(new SpeechFailedError(`${this.#name} was closed.`));
    await Promise.all([free(), this.#text.close()]);
  }
}
