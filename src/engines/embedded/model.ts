import { abortable } from "../../core/abortable.ts";
import type { Script } from "../../core/script.ts";
import { ConversationError, SpeechFailedError, type SpeechModel } from "../../core/speech-model.ts";
import type { NativeGuard } from "../../onnx/session.ts";
import { runInterleaved } from "../following/analysis/work.ts";
import type { CastSpeaker } from "../following/reference-voice.ts";
import { applyManner, plannedOptions, type VoiceScript } from "../prosody/apply-manner.ts";
import { planSentence } from "../prosody/plan-sentence.ts";
import { PlannedSpeech } from "../prosody/planned-speech.ts";
import { openTextReader, type ReadingOptions } from "../prosody/read-text.ts";
import { yieldingNetwork } from "../prosody/yielding-network.ts";
import { AdaptedNetworks } from "./adapter.ts";
import { EmbeddedFollower } from "./following/follower.ts";
import { createKernel } from "./kernel/kernel.ts";
import { EMBEDDED_RUNS, type EmbeddedNetwork, type EmbeddedPrecision, openNetwork } from "./network.ts";
import { readPreset } from "./preset.ts";
import { planStyleOf, sentenceAudio } from "./sentence.ts";
import { createVoices, type EmbeddedSpeaker, type EmbeddedVoice } from "./speakers.ts";

export interface ParametricOptions extends ReadingOptions {
  /** The voice's folder (`voices/heart`). */
  readonly voiceDir: string;
  /** Default: `int8`. */
  readonly precision?: EmbeddedPrecision | undefined;
  /** Voices of the speaker labels in scripts that name a language, by its tag. Default: as without. */
  readonly languageLabels?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * Opens the embedded neural voice: text to phonemes, a small network to a plan and a spectrum, then a waveform. It
 * computes in the calling thread, a few milliseconds at a time; concurrent utterances take turns. Presets: see
 * `EmbeddedPreset`.
 *
 * Intonation that the text asks for is added to the network's own reading at every temperature (see `rhythmOf`).
 * `temperature` varies tempo, pitch, words and pauses around that; `acousticTemperature` varies the loudness of bands
 * and the phase of unvoiced sound. The engine samples nothing, so `topK`, `repetitionPenalty` and `penaltyWindow` do
 * nothing.
 *
 * @param guard required if the calling thread may be terminated
 * @throws Error naming the file of the voice that is missing or damaged
 */
export async function createParametricModel(
  options: ParametricOptions,
  guard?: NativeGuard,
): Promise<SpeechModel> {
  const { voiceDir, precision, languageLabels = {}, ...reading } = options;
  const network = await openNetwork(voiceDir, precision, guard);
  const text = await openTextReader(voiceDir, reading, guard).catch(async (thrown: unknown) => {
    await network.close();
    throw thrown;
  });
  const kernel = await createKernel();
  const voices = createVoices();
  const speech = new PlannedSpeech("The voice", text);
  const closingTurn = speech.inTurn(speech.closing);
  const adapted = new AdaptedNetworks({ voiceDir, precision, guard, inTurn: closingTurn });
  const follower = new EmbeddedFollower({
    network: yieldingNetwork(network, EMBEDDED_RUNS, closingTurn),
    kernel,
    reader: text,
    voices,
    run: (work) => runInterleaved(work, speech.mutex, speech.closing),
  });

  function usualVoice(script: VoiceScript): EmbeddedVoice {
    const { language = "", speaker } = script;
    const name = chosenVoice(script) ?? languageLabels[language]?.[speaker] ?? speaker;
    const voice = voices.get(name);
    if (voice?.language !== undefined && script.voice?.some((part) => "sample" in part))
      throw new ConversationError("this model follows a recording in English only: leave language out");
    if (voice !== undefined) return voice;
    throw new SpeechFailedError(`The voice has no speaker "${name}", only ${[...voices.keys()]}.`);
  }

  async function cast(script: VoiceScript, signal: AbortSignal): Promise<EmbeddedCast> {
    const { follows } = readPreset(script.preset);
    const { speaker, followed } = await follower.cast(script, usualVoice(script), follows, signal);
    const { adapter } = speaker;
    return {
      speaker,
      followed,
      network: adapter === null ? network : await abortable(adapted.network(adapter), signal),
    };
  }

  const model = speech.model({
    cast,
    sentenceVoice(cast: EmbeddedCast, { delivery, manner, seed }, preset, inTurn) {
      const speaker = applyManner(cast.speaker, manner);
      const network = yieldingNetwork(cast.network, EMBEDDED_RUNS, inTurn);
      const style = { speaker, delivery, preset, manner, seed };
      return {
        plan: (sentence, index) => planSentence(network, sentence, planStyleOf(style), index),
        audio: (plan, index) => sentenceAudio(network, kernel, plan, style, index),
        timeScale: plannedOptions(preset, manner).timeScale,
        pause: speaker.pause,
        gain: speaker.gain,
      };
    },
    languageOf: (script) => usualVoice(script).language,
    free: () => Promise.all([network.close(), adapted.close()]),
  });
  await warmUp(model);
  return model;
}

interface EmbeddedCast extends CastSpeaker<EmbeddedSpeaker> {
  readonly network: EmbeddedNetwork;
}

/** Returns the embedded voice that the script chooses; `null` if the speaker's label decides. */
function chosenVoice({ voice = [] }: Pick<Script, "voice">): string | null {
  if (voice.length > 1)
    throw new ConversationError("this model speaks with one voice at a time: choose one, and no mix");
  const [part] = voice;
  return part !== undefined && "id" in part ? part.id : null;
}

/** Worker threads load a model by this name. */
export { createParametricModel as createModel };

/** Speaks a sentence and discards it, so that no listener waits for first runs and the kernel's compilation. */
async function warmUp({ speak }: SpeechModel): Promise<void> {
  const script: Script = {
    history: [],
    speaker: "0",
    text: (async function* () {
      yield "The voice clears its throat before the first listener comes.";
    })(),
    delivery: {
      temperature: 0,
      acousticTemperature: 0,
      topK: null,
      repetitionPenalty: 0,
      penaltyWindow: 1,
      maxFrames: 64,
      quality: "high",
    },
    preset: {},
    seed: 0n,
  };
  const speech = speak(script, new AbortController().signal);
  while (!(await speech.next()).done);
}
