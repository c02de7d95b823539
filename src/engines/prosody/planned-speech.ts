import type { RunQueued } from "../../core/run-queued.ts";
import type { Preset, Script } from "../../core/script.ts";
import { type FollowedVoice, SpeechFailedError, type SpeechModel } from "../../core/speech-model.ts";
import { type Stopper, stopWith } from "../../core/stop-with.ts";
import type { LanguageTag } from "../../text/languages/language.ts";
import { scaleRate, scriptForVoice, type VoiceScript } from "./apply-manner.ts";
import { precedingTurnOf } from "./intonation/rhythm.ts";
import { PriorityMutex } from "./priority-mutex.ts";
import type { TextReader } from "./read-text.ts";
import { type SegmentReader, SegmentSource } from "./segments.ts";
import { type SentenceVoice, speakSegments } from "./utterance.ts";

export interface PlannedVoices<C extends { readonly followed: FollowedVoice | null }> {
  /** Returns the voice that speaks a script, and the report on what it follows. */
  cast(script: VoiceScript, signal: AbortSignal): Promise<C>;
  /** @param inTurn runs each graph when the utterance gets a turn */
  sentenceVoice(cast: C, script: Script, preset: Preset, inTurn: RunQueued): SentenceVoice;
  /** Returns the language in which a script is read. Default: American English. */
  languageOf?(script: VoiceScript): LanguageTag | undefined;
  free(): Promise<unknown>;
}

/** The utterances of an engine that plans sentences. They share a thread in turns, and end when the engine closes. */
export class PlannedSpeech {
  readonly mutex = new PriorityMutex();
  readonly #name: string;
  readonly #text: TextReader;
  readonly #closing = new AbortController();
  readonly #open = new Set<Stopper>();

  /** @param name the engine in error messages, as it begins a sentence: `The voice` */
  constructor(name: string, text: TextReader) {
    this.#name = name;
    this.#text = text;
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Returns a function that runs a graph in its turn. @param isUrgent whether no frame is out yet */
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

  model<C extends { readonly followed: FollowedVoice | null }>(voices: PlannedVoices<C>): SpeechModel {
    return {
      analyseHistory: async (script, signal) => {
        this.#requireOpen(signal);
        await voices.cast(script, signal);
        for (const name of Object.keys(script.textVoices ?? {}))
          await voices.cast(scriptForVoice(name, script), signal);
      },
      speak: (script, signal) => this.#speak(script, signal, voices),
      close: () => this.#close(voices),
    };
  }

  #requireOpen(signal: AbortSignal): void {
    if (this.closing.aborted) throw new SpeechFailedError(`${this.#name} is closed.`);
    signal.throwIfAborted();
  }

  async *#speak<C extends { readonly followed: FollowedVoice | null }>(
    script: Script,
    signal: AbortSignal,
    voices: PlannedVoices<C>,
  ): ReturnType<SpeechModel["speak"]> {
    this.#requireOpen(signal);
    const stop = stopWith([signal]);
    this.#open.add(stop);
    const readers = new Map<LanguageTag | undefined, SegmentReader>();
    const readerOf = (voice: string | null) => {
      const tag = voices.languageOf?.(voice === null ? script : scriptForVoice(voice, script));
      const reader = readers.get(tag) ?? this.#text.reading(script.lexicon ?? [], tag);
      readers.set(tag, reader);
      return reader;
    };
    const source = new SegmentSource(script.text, readerOf, stop.signal);
    let hasBegun = false;
    try {
      const inTurn = this.inTurn(stop.signal, () => !hasBegun);
      const usual = await voices.cast(script, stop.signal);
      const report = yield* speakSegments({
        source,
        voice: voices.sentenceVoice(usual, script, script.preset, inTurn),
        async voiceIn({ voice: name, rate }) {
          const cast = name === null ? usual : await voices.cast(scriptForVoice(name, script), stop.signal);
          return voices.sentenceVoice(cast, script, scaleRate(script.preset, rate), inTurn);
        },
        precedingTurn: precedingTurnOf(script),
        maxFrames: script.delivery.maxFrames,
        phonemeOf: script.hasMouth === true ? this.#text.phonemeOf : null,
        signal: stop.signal,
        onFirstFrame: () => {
          hasBegun = true;
        },
      });
      return usual.followed === null ? report : { ...report, voice: usual.followed };
    } finally {
      source.release();
      stop.end();
      this.#open.delete(stop);
      // Stops the planning of a segment ahead when the consumer leaves.
      stop.abort(new SpeechFailedError("No consumer is left."));
    }
  }

  async #close({ free }: Pick<PlannedVoices<never>, "free">): Promise<void> {
    if (this.closing.aborted) return;
    this.#closing.abort(new SpeechFailedError(`${this.#name} was closed.`));
    for (const stop of this.#open) stop.abort(new SpeechFailedError(`${this.#name} was closed.`));
    await Promise.all([free(), this.#text.close()]);
  }
}
