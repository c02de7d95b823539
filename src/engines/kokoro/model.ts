import { ButterworthLowPass } from "../../audio/low-pass.ts";
import type { RunQueued } from "../../core/run-queued.ts";
import type { AudioQuality, Preset, Script } from "../../core/script.ts";
import { ConversationError, SpeechFailedError, type SpeechModel } from "../../core/speech-model.ts";
import type { NativeGuard } from "../../onnx/session.ts";
import type { LanguageTag } from "../../text/languages/language.ts";
import { runInterleaved } from "../following/analysis/work.ts";
import { applyManner, plannedOptions } from "../prosody/apply-manner.ts";
import { FRAMES_PER_STEP } from "../prosody/frames.ts";
import { speechSpan } from "../prosody/plan.ts";
import { type PlanStyle, planSentence } from "../prosody/plan-sentence.ts";
import { PlannedSpeech } from "../prosody/planned-speech.ts";
import { openTextReader, type ReadingOptions } from "../prosody/read-text.ts";
import { type HopSource, SentenceAudio } from "../prosody/sentence-audio.ts";
import type { SentenceVoice } from "../prosody/utterance.ts";
import { yieldingNetwork } from "../prosody/yielding-network.ts";
import { DecodedHops } from "./decoded-hops.ts";
import { KokoroFollower, type KokoroSpeaker, type KokoroStartingVoices } from "./follower.ts";
import { type ConvertedGraphs, openConvertedGraphs } from "./graphs/converted-graphs.ts";
import { KOKORO_RUNS, type KokoroNetwork, openKokoro, planningNetworkFor } from "./network.ts";
import { normStatisticsFor } from "./norm-statistics.ts";
import { heaviest, ReadyVoices, type WeightedVoice } from "./ready-voices.ts";
import { languageOf } from "./voices.ts";

export interface KokoroOptions extends ReadingOptions {
  readonly folder: string;
  /** The embedded voice's folder, whose dictionary reads the text. */
  readonly voiceDir: string;
  /** Kokoro's voice for each speaker label. */
  readonly labels: Readonly<Record<string, string>>;
  /** Those of scripts that name a language, by its tag. */
  readonly languageLabels?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly starts: KokoroStartingVoices;
}

/** Longer sentences (in tokens) are cut at a comma or else a space, so that no plan takes more than 0.1 GB. */
const LONGEST = { soft: 180, hard: 200 };

/**
 * Opens Kokoro-82M: text to phonemes as for the embedded voice, a plan by Kokoro's own durations, pitch and energy,
 * then its decoder, piece by piece. The embedded voice learned from that plan, so the same edits apply. It computes
 * in the calling thread; a piece takes up to half a second, and concurrent utterances take turns. Presets:
 * `liveliness` and `rate`.
 *
 * @param guard required if the calling thread may be terminated
 * @throws Error naming the file that is missing or damaged
 */
export async function createKokoroModel(options: KokoroOptions, guard?: NativeGuard): Promise<SpeechModel> {
  const { folder, voiceDir, labels: usual, languageLabels = {}, starts, ...reading } = options;
  const labelsOf = ({ language = "" }: Pick<Script, "language">) => languageLabels[language] ?? usual;
  const graphs = await openConvertedGraphs(folder);
  const network = await openKokoro(graphs, guard);
  const text = await openTextReader(voiceDir, { ...reading, longest: LONGEST }, guard).catch(
    async (thrown: unknown) => {
      await network.close();
      throw thrown;
    },
  );
  const speech = new PlannedSpeech("Kokoro", text);
  const yielding = yieldingNetwork(network, KOKORO_RUNS, speech.inTurn(speech.closing));
  const voices = new ReadyVoices({ folder, graphs, network: yielding, reader: text, guard });
  const follower = new KokoroFollower({
    network: yielding,
    reader: text,
    voices,
    starts,
    run: (work) => runInterleaved(work, speech.mutex, speech.closing),
  });
  return speech.model({
    cast: async (script, signal) => {
      const labels = labelsOf(script);
      return follower.cast(script, usualVoice(script, labels), spokenLanguage(script, labels), signal);
    },
    sentenceVoice: ({ speaker }, script, preset, inTurn) =>
      createSentenceVoice({ network, graphs, inTurn }, applyManner(speaker, script.manner), script, preset),
    languageOf: (script) => spokenLanguage(script, labelsOf(script)),
    free: () => network.close(),
  });
}

function createSentenceVoice(
  {
    network,
    graphs,
    inTurn,
  }: Readonly<{ network: KokoroNetwork; graphs: ConvertedGraphs; inTurn: RunQueued }>,
  speaker: KokoroSpeaker,
  { delivery, manner, seed }: Script,
  preset: Preset,
): SentenceVoice {
  const own = yieldingNetwork(network, KOKORO_RUNS, inTurn);
  const { parts, statistics } = speaker.voice;
  const { planning, style } = planningNetworkFor(own, parts);
  const { timeScale, ...options } = plannedOptions(preset, manner);
  const planStyle: PlanStyle = { speaker, temperature: delivery.temperature, ...options, seed };
  return {
    plan: (sentence, index) => planSentence(planning, sentence, planStyle, index),
    audio(plan) {
      const span = speechSpan(plan);
      const voice = {
        style: style(plan.ids),
        statistics: normStatisticsFor(statistics, plan.frames / FRAMES_PER_STEP),
      };
      const { inverseBasis, facts } = graphs;
      const hops = new DecodedHops({ network: own, voice, inverseBasis, missing: facts.missing }, plan, span);
      return new SentenceAudio(lowPassed(hops, delivery.quality), span, plan.gain);
    },
    timeScale,
    pause: speaker.pause,
    gain: speaker.gain,
  };
}

function usualVoice(
  { voice, speaker }: Pick<Script, "voice" | "speaker">,
  labels: KokoroOptions["labels"],
): readonly WeightedVoice[] {
  const named = namedParts(voice);
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

/** Returns the language of a mix's heaviest voice; with a recording, that of the label's voice. */
function spokenLanguage(
  { voice, speaker }: Pick<Script, "voice" | "speaker">,
  labels: KokoroOptions["labels"],
): LanguageTag {
  const named = namedParts(voice);
  return languageOf(named.length === 0 ? (labels[speaker] ?? "") : heaviest(named).id);
}

function namedParts(voice: Script["voice"]): readonly WeightedVoice[] {
  return (voice ?? []).flatMap((part) => ("id" in part ? [part] : []));
}

/** Worker threads load a model by this name. */
export { createKokoroModel as createModel };

/** Returns a sentence's hops without the frequencies above the quality's cutoff. */
function lowPassed(hops: HopSource, quality: AudioQuality): HopSource {
  const cutoffHz = CUTOFF_HZ[quality];
  if (cutoffHz === null) return hops;
  const filter = new ButterworthLowPass(cutoffHz);
  return {
    leadingHops: hops.leadingHops,
    async make(out) {
      await hops.make(out);
      filter.apply(out);
    },
  };
}

/** The embedded voice has the same bandwidths. */
const CUTOFF_HZ: Readonly<Record<AudioQuality, number | null>> = { low: 4_000, medium: 7_000, high: null };
