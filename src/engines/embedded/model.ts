import { abortable } from "../../core/abortable.ts";
import type { Preset, Script } from "../../core/script.ts";
import {
  ConversationError,
  type Frame,
  SpeechFailedError,
  type SpeechModel,
  type SpeechReport,
} from "../../core/speech-model.ts";
import type { NativeGuard } from "../../onnx/session.ts";
import { runInTurns } from "../following/analysis/run-in-turns.ts";
import type { Work } from "../following/analysis/work.ts";
import { atRate, inManner, spokenBy } from "../prosody/in-manner.ts";
import { plannedOptions } from "../prosody/options.ts";
import { planSentence } from "../prosody/plan-sentence.ts";
import { PlannedSpeech } from "../prosody/planned-speech.ts";
import { openTextReader, type ReadingOptions } from "../prosody/read-text.ts";
import type { SentenceVoice } from "../prosody/utterance.ts";
import { type FollowedSpeaker, Follower } from "./following/follower.ts";
import { createKernel } from "./kernel/kernel.ts";
import { type Network, openNetwork, type Precision } from "./network.ts";
import { People } from "./people.ts";
import { voiceOptions } from "./preset.ts";
import { planStyleOf, sentenceAudio } from "./sentence.ts";
import { createVoices, type Speaker } from "./speakers.ts";
import { yieldingNetwork } from "./take-turns.ts";

/** Where the embedded voice finds what it needs. */
export interface ParametricOptions extends ReadingOptions {
  /** The voice's folder (`voices/heart`). */
  readonly voiceDir: string;
  /** `int8` unless given. */
  readonly precision?: Precision | undefined;
}

/**
 * Opens the embedded neural voice: text to phonemes, a small network to a plan and a spectrum, and from that the
 * waveform. It computes in the calling thread, a few milliseconds at a time; utterances that are open at once take
 * turns. Presets: see `VoiceOptions`.
 *
 * What the text asks for is added to the network's own reading at every temperature (see `rhythmOf`). `temperature`
 * moves tempo, pitch, words and pauses away from that; `acousticTemperature` lets
 * the loudness of bands and the phase of what is unvoiced wander. The engine chooses nothing from a list, so `topK`,
 * `repetitionPenalty` and `penaltyWindow` have nothing to act on: they do nothing.
 *
 * @param guard needed where somebody may end the calling thread.
 * @throws Error naming the file of the voice that is missing or damaged.
 */
export async function createParametricModel(
  options: ParametricOptions,
  guard?: NativeGuard,
): Promise<SpeechModel> {
  const { voiceDir, precision, ...reading } = options;
  const network = await openNetwork(voiceDir, precision, guard);
  const text = await openTextReader(voiceDir, reading, guard).catch(async (thrown: unknown) => {
    await network.close();
    throw thrown;
  });
  const kernel = await createKernel();
  const voices = createVoices();
  const speech = new PlannedSpeech("The voice", text);
  const run = <T>(work: Work<T>) => runInTurns(work, speech.mutex, speech.closing);
  const people = new People({ voiceDir, precision, guard, inTurn: speech.inTurn(speech.closing) });
  const networkOf = async ({ adapter }: Speaker, signal: AbortSignal): Promise<Network> =>
    adapter === null ? network : abortable(people.network(adapter), signal);
  const follower = new Follower({
    network: yieldingNetwork(network, speech.inTurn(speech.closing)),
    kernel,
    reader: text,
    voices,
    run,
  });

  async function cast(
    script: Pick<Script, "history" | "speaker" | "voice" | "preset">,
    signal: AbortSignal,
  ): Promise<FollowedSpeaker> {
    const name = chosenIn(script) ?? script.speaker;
    const voice = voices.get(name);
    if (voice === undefined) {
      throw new SpeechFailedError(`The voice has no speaker "${name}", only ${[...voices.keys()]}.`);
    }
    return follower.cast(script, voice, voiceOptions(script.preset).follows, signal);
  }

  function speak(script: Script, signal: AbortSignal): AsyncGenerator<Frame, SpeechReport, void> {
    return speech.speak(script, signal, async (inTurn, stop) => {
      const { speaker: plain, heard } = await cast(script, stop);
      const { manner } = script;
      const speaker = inManner(plain, manner);
      const voiceOf = async (who: Speaker, preset: Preset): Promise<SentenceVoice> => {
        const own = yieldingNetwork(await networkOf(who, stop), inTurn);
        const style = { speaker: who, delivery: script.delivery, preset, manner, seed: script.seed };
        return {
          plan: (sentence, index) => planSentence(own, sentence, planStyleOf(style), index),
          audio: (plan, index) => sentenceAudio(own, kernel, plan, style, index),
          timeScale: plannedOptions(preset, manner).timeScale,
          pause: who.pause,
          gain: who.gain,
        };
      };
      return {
        voice: await voiceOf(speaker, script.preset),
        async voiceIn({ voice, rate }) {
          const who = voice === null ? plain : (await cast(spokenBy(voice, script), stop)).speaker;
          return voiceOf(inManner(who, manner), atRate(script.preset, rate));
        },
        heard,
      };
    });
  }

  await warmUp(speak);
  return {
    async analyseHistory(script, signal) {
      speech.requireOpen(signal);
      const others = Object.keys(script.textVoices ?? {}).map((name) => spokenBy(name, script));
      for (const each of [script, ...others]) await networkOf((await cast(each, signal)).speaker, signal);
    },
    speak,
    close: () => speech.close(async () => void (await Promise.all([network.close(), people.close()]))),
  };
}

/** The voice of ours that was chosen; `null` where that is for the speaker's label to say. */
function chosenIn({ voice = [] }: Pick<Script, "voice">): string | null {
  if (voice.length > 1) {
    throw new ConversationError("this model speaks with one voice at a time: choose one, and no mix");
  }
  const [part] = voice;
  return part !== undefined && "id" in part ? part.id : null;
}

/** The name under which a worker thread looks for a model's maker. */
export { createParametricModel as createModel };

/** Speaks a sentence to nobody: the first run of every graph, and the kernel's compilation, cost more than the rest. */
async function warmUp(speak: SpeechModel["speak"]): Promise<void> {
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
