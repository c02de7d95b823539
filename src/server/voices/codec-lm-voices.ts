import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { resample } from "../../audio/resample.ts";
import type { ModelVoice } from "../../core/model-card.ts";
import type { Checkpoint } from "../../engines/codec-lm/checkpoint.ts";
import type { LabelVoice } from "../../engines/codec-lm/speech/voices.ts";
import { labelCast } from "../../models/embedded-cast.ts";
import type { LocalVoice } from "../../models/offered-models.ts";
import type { CodecLmSettings } from "../../settings/model-settings.ts";
import { wrongSetting } from "../../settings/settings-error.ts";
import { UsageError } from "../usage-error.ts";
import { requireSpeaker } from "./local-checkpoint.ts";
import { readRecording } from "./read-recording.ts";

/** Which codec language model a checkpoint is of, as far as its settings depend on it; `null` for CSM. */
export type CodecLmKind = Checkpoint["qwen3Tts"];

/** What a voice is known by; more makes it no better, and the models forget the oldest of a conversation for it. */
const CLIP_S = { min: 1, max: 30 } as const;

/**
 * The voices of a checkpoint's speakers, with their clips read.
 *
 * @param setting what the checkpoint's settings are called: `checkpoints.csm-1b`
 * @throws SettingsError naming the setting and the remedy
 */
export async function codecLmVoices(
  { voices = {}, language, instruct }: Readonly<Partial<CodecLmSettings>>,
  kind: CodecLmKind,
  setting: string,
): Promise<Record<string, LabelVoice>> {
  checkVoiceOptions(language, instruct, kind, setting);
  const read: Record<string, LabelVoice> = {};
  for (const [label, voice] of Object.entries(voices)) {
    const where = `${setting}.voices.${label}`;
    requireSpeaker(label, setting);
    if ("preset" in voice) {
      checkPreset(voice.preset, kind, where);
      read[label] = { preset: voice.preset };
    } else {
      if (kind !== null && kind.kind !== "base") {
        throw wrongSetting(
          where,
          "has a clip, and this checkpoint follows none: name one of its own voices as preset",
        );
      }
      read[label] = { clip: { samples: await clipOf(voice.clip, `${where}.clip`), text: voice.text ?? "" } };
    }
  }
  return read;
}

/** What there is to know of a checkpoint before one uses it, in the words of a card. @param name as the settings have it */
export function localVoice(name: string, kind: CodecLmKind): LocalVoice {
  const voices = [...labelCast(), ...(kind === null ? [] : [...kind.speakers.keys()].map(presetVoice))];
  const takes = { mixes: false, samples: kind === null || kind.kind === "base" };
  if (kind === null) {
    return {
      voices,
      takes,
      reads: "everybody",
      description:
        `Spoken here by “${name}”, a CSM: it reads the earlier turns, their words and their sound, and speaks on from ` +
        `them. Where there are too many it forgets the oldest. ${ALL}`,
    };
  }
  const { size } = kind;
  const begin = `Spoken here by “${name}”, a Qwen3-TTS (${size}).`;
  if (kind.kind === "base") {
    return {
      voices,
      takes,
      reads: "speaker",
      description:
        `${begin} It does not hear others' turns: of the conversation it takes the speaker's own latest ones that have ` +
        `sound, to keep their voice and manner. A speaker without any, and without a clip in the settings, cannot be spoken for. ${ALL}`,
    };
  }
  const voice =
    kind.kind === "custom_voice"
      ? "with a voice that it was taught"
      : "with a voice that a description in the settings designs";
  const description = `${begin} It speaks ${voice}, and does not hear earlier turns. ${ALL}`;
  return { voices, takes, description };
}

function presetVoice(name: string): ModelVoice {
  const description = "A voice that the model was taught.";
  return { id: name, name, sex: null, accent: null, description, aliases: [] };
}

const ALL = "It tells no times of words. Nobody has judged its sound here.";

function checkVoiceOptions(
  language: string | undefined,
  instruct: string | undefined,
  kind: CodecLmKind,
  setting: string,
): void {
  if (kind === null) {
    const name = language !== undefined ? "language" : instruct !== undefined ? "instruct" : null;
    if (name !== null)
      throw wrongSetting(`${setting}.${name}`, "is for Qwen3-TTS, and this is a CSM: leave it out");
    return;
  }
  if (instruct !== undefined && kind.kind === "base") {
    throw wrongSetting(
      `${setting}.instruct`,
      "is for checkpoints that take instructions, which a base one does not",
    );
  }
  const known = [...kind.languages.keys()];
  if (language !== undefined && language !== "auto" && !kind.languages.has(language.toLowerCase())) {
    throw wrongSetting(`${setting}.language`, `is "${language}": name one of auto, ${known.join(", ")}`);
  }
}

function checkPreset(preset: string, kind: CodecLmKind, where: string): void {
  if (kind === null || kind.kind !== "custom_voice") {
    throw wrongSetting(where, "names a preset, and this checkpoint has none: give it a clip and its text");
  }
  if (!kind.speakers.has(preset.toLowerCase())) {
    throw wrongSetting(
      `${where}.preset`,
      `is "${preset}": name one of ${[...kind.speakers.keys()].join(", ")}`,
    );
  }
}

async function clipOf(file: string, where: string): Promise<Float32Array> {
  try {
    const { signal } = new AbortController();
    const sound = await readRecording(file, signal);
    const { sampleRateHz } = sound;
    const samples = await sound.read(CLIP_S.max * sampleRateHz + 1, signal);
    const isLong = samples.length > CLIP_S.max * sampleRateHz;
    const durationS = isLong ? sound.boundS : samples.length / sampleRateHz;
    if (durationS < CLIP_S.min || durationS > CLIP_S.max) {
      const s = durationS.toFixed(1);
      throw wrongSetting(where, `is ${s} s long: give a recording of ${CLIP_S.min} to ${CLIP_S.max} s`);
    }
    return new Float32Array(resample(samples, sampleRateHz, SAMPLE_RATE_HZ));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw wrongSetting(where, `cannot be used. ${error.message.replace(/\.$/, "")}`);
  }
}
