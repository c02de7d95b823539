import type { AudioQuality, Preset, Script } from "../../core/script.ts";
import {
  ConversationError,
  type Frame,
  SpeechFailedError,
  type SpeechModel,
  type SpeechReport,
} from "../../core/speech-model.ts";
import type { NativeGuard } from "../../onnx/session.ts";
import type { AccentTag } from "../../text/phonemes/accent.ts";
import { runInTurns } from "../following/analysis/run-in-turns.ts";
import { FRAMES_PER_STEP } from "../prosody/frames.ts";
import { atRate, inManner, spokenBy } from "../prosody/in-manner.ts";
import { plannedOptions } from "../prosody/options.ts";
import { type PlanStyle, planSentence } from "../prosody/plan-sentence.ts";
import { PlannedSpeech } from "../prosody/planned-speech.ts";
import { openTextReader, type ReadingOptions } from "../prosody/read-text.ts";
import { SentenceAudio } from "../prosody/sentence-audio.ts";
import { speechSpan } from "../prosody/speech-span.ts";
import type { SentenceVoice } from "../prosody/utterance.ts";
import { CastVoices, type WeightedVoice } from "./cast-voices.ts";
import { DecodedHops } from "./decoded-hops.ts";
import { KokoroFollower } from "./follower.ts";
import { openMade } from "./made-files.ts";
import { narrowed } from "./narrowed.ts";
import type { Starts } from "./nearest-start.ts";
import { openKokoro } from "./network.ts";
import { planningWith } from "./planning-network.ts";
import { statisticsAt } from "./statistics-line.ts";
import { yieldingKokoro } from "./take-turns.ts";
import { accentOf } from "./voices.ts";

/** Where Kokoro finds what it needs. */
export interface KokoroOptions extends ReadingOptions {
  /** The checkpoint's folder, with what `make-files.ts` made in it. */
  readonly folder: string;
  /** The embedded voice's folder, whose dictionary reads the text. */
  readonly voiceDir: string;
  /** Which of Kokoro's voices each speaker's label stands for. */
  readonly labels: Readonly<Record<string, string>>;
  /** From which of them somebody's voice is followed. */
  readonly starts: Starts;
}

/** Sentences of more tokens are cut at a comma, or else at a space: no plan then takes more than 0.1 GB. */
const LONGEST = { soft: 180, hard: 200 };

/**
 * Opens Kokoro-82M: text to phonemes as the embedded voice reads it, the plan by Kokoro's own durations, pitch and energy,
 * which are what the embedded voice learned from, so that the same edits apply, and those that follow somebody's voice; then its decoder, piece by piece. It
 * computes in the calling thread; a piece takes up to half a second, and utterances that are open at once take turns.
 * Presets: `liveliness` and `rate`.
 *
 * @param guard needed where somebody may end the calling thread.
 * @throws Error naming the file that is missing or damaged.
 */
export async function createKokoroModel(options: KokoroOptions, guard?: NativeGuard): Promise<SpeechModel> {
  const { folder, voiceDir, labels, starts, ...reading } = options;
  const made = await openMade(folder);
  const network = await openKokoro(made, guard);
  const text = await openTextReader(voiceDir, { ...reading, longest: LONGEST }, guard).catch(
    async (thrown: unknown) => {
      await network.close();
      throw thrown;
    },
  );
  const speech = new PlannedSpeech("Kokoro", text);
  const yielding = yieldingKokoro(network, speech.inTurn(speech.closing));
  const voices = new CastVoices({ folder, made, network: yielding, reader: text, guard });
  const follower = new KokoroFollower({
    network: yielding,
    reader: text,
    voices,
    starts,
    run: (work) => runInTurns(work, speech.mutex, speech.closing),
  });

  /** Who speaks where no recording leads. */
  function partsOf({ voice, speaker }: Pick<Script, "voice" | "speaker">): readonly WeightedVoice[] {
    const named = namedIn(voice);
    const recordings = (voice ?? []).length - named.length;
    if (recordings > 1 || (recordings === 1 && named.length > 0)) {
      throw new ConversationError(
        "this model follows one recording at a time: choose one, or a mix of its own voices",
      );
    }
    if (named.length > 0) return named;
    const id = labels[speaker];
    if (id !== undefined) return [{ weight: 1, id }];
    throw new SpeechFailedError(
      `Kokoro has no voice for the speaker "${speaker}", only for ${Object.keys(labels)}.`,
    );
  }

  function castNamed(name: string, script: Parameters<typeof spokenBy>[1], signal: AbortSignal) {
    const named = spokenBy(name, script);
    return follower.cast(named, partsOf(named), signal);
  }

  function speak(script: Script, signal: AbortSignal): AsyncGenerator<Frame, SpeechReport, void> {
    const { delivery, manner, seed } = script;
    return speech.speak(
      script,
      signal,
      async (inTurn, stop) => {
        const followed = await follower.cast(script, partsOf(script), stop);
        const own = yieldingKokoro(network, inTurn);
        const voiceOf = ({ ready, speaker: who }: typeof followed, preset: Preset): SentenceVoice => {
          const { parts, statistics } = ready;
          const { planning, style } = planningWith(own, parts);
          const { timeScale, ...options } = plannedOptions(preset, manner);
          const speaker = inManner(who, manner);
          const planStyle: PlanStyle = { speaker, temperature: delivery.temperature, ...options, seed };
          return {
            plan: (sentence, index) => planSentence(planning, sentence, planStyle, index),
            audio(plan) {
              const span = speechSpan(plan);
              const voice = {
                style: style(plan.ids),
                statistics: statisticsAt(statistics, plan.frames / FRAMES_PER_STEP),
              };
              const { inverseBasis, facts } = made;
              const decoding = { network: own, voice, inverseBasis, missing: facts.missing };
              return new SentenceAudio(
                narrowed(new DecodedHops(decoding, plan, span), CUTOFFS_HZ[delivery.quality]),
                span,
                plan.gain,
              );
            },
            timeScale,
            pause: speaker.pause,
            gain: speaker.gain,
          };
        };
        return {
          voice: voiceOf(followed, script.preset),
          async voiceIn({ voice: name, rate }) {
            return voiceOf(
              name === null ? followed : await castNamed(name, script, stop),
              atRate(script.preset, rate),
            );
          },
          heard: followed.heard,
        };
      },
      accentFor(script),
    );
  }

  /** That of whom there is most in a mix; with a recording, that of whom the label stands for. */
  function accentFor({ voice, speaker }: Pick<Script, "voice" | "speaker">): AccentTag {
    const named = namedIn(voice);
    const [first] = named;
    if (first === undefined) return accentOf(labels[speaker] ?? "");
    return accentOf(named.reduce((a, b) => (b.weight > a.weight ? b : a), first).id);
  }

  return {
    async analyseHistory(script, signal) {
      speech.requireOpen(signal);
      await follower.cast(script, partsOf(script), signal);
      for (const name of Object.keys(script.textVoices ?? {})) await castNamed(name, script, signal);
    },
    speak,
    close: () => speech.close(() => network.close()),
  };
}

/** The parts of a voice that are the model's own. */
function namedIn(voice: Script["voice"]): readonly WeightedVoice[] {
  return (voice ?? []).flatMap((part) => ("id" in part ? [part] : []));
}

/** The name under which a worker thread looks for a model's maker. */
export { createKokoroModel as createModel };

/** Bandwidth: 4 kHz, 7 kHz, and all that the model has, as the embedded voice does. */
const CUTOFFS_HZ: Readonly<Record<AudioQuality, number | null>> = { low: 4_000, medium: 7_000, high: null };
