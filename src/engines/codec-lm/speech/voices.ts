import { createHash } from "node:crypto";
import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { resample } from "../../../audio/resample.ts";
import type { SpeakerLabel } from "../../../core/conversation.ts";
import type { Script, VoiceSample } from "../../../core/script.ts";
import { ConversationError } from "../../../core/speech-model.ts";
import type { ClipSupport, SpokenTurn } from "../codec-language-model.ts";
import { OptionError } from "../fields.ts";
import { couldCoverAudio, toPlainText } from "./segments.ts";

/** Voice of a speaker label: a preset of the checkpoint, or a recording with its text. */
export type LabelVoice =
  | { readonly preset: string }
  | {
      readonly clip: {
        readonly samples: Float32Array;
        /** All words of the recording; empty if unknown. */
        readonly text: string;
      };
    };

export interface LabelVoices {
  presetOf(label: SpeakerLabel): string | null;
  /** Returns the recording of a label as a turn; `null` if there is none. */
  clipOf(label: SpeakerLabel): SpokenTurn | null;
}

/** Default presets of published checkpoints: female for all labels but "1", as for the embedded voice. */
const WOMEN = ["serena", "vivian", "sohee", "ono_anna"];
const MEN = ["ryan", "aiden", "uncle_fu"];

/** @throws OptionError naming a label whose voice the checkpoint does not have */
export function resolveLabelVoices(
  given: Readonly<Record<SpeakerLabel, LabelVoice>>,
  voices: ClipSupport,
): LabelVoices {
  const presets = new Map<SpeakerLabel, string>();
  const clips = new Map<SpeakerLabel, SpokenTurn>();
  for (const [label, voice] of Object.entries(given)) {
    if ("preset" in voice) presets.set(label, checkPreset(label, voice.preset, voices));
    else clips.set(label, createClipTurn(label, voice.clip, voices));
  }
  const taken = new Set(presets.values());
  const free = (names: readonly string[]): string | undefined =>
    names.find((name) => voices.presets.includes(name) && !taken.has(name));
  return {
    presetOf(label) {
      if (voices.kind !== "presets" || voices.presets.length === 0) return null;
      const usual = label === "1" ? [...MEN, ...voices.presets.slice(1)] : [...WOMEN, ...voices.presets];
      return presets.get(label) ?? free(usual) ?? voices.presets[0]!;
    },
    clipOf: (label) => clips.get(label) ?? null,
  };
}

/**
 * Applies the voice that a script chooses to its speaker.
 *
 * @throws ConversationError if the checkpoint does not have that voice, or follows no clips
 */
export function resolveScriptVoices(
  { voice, speaker }: Pick<Script, "voice" | "speaker">,
  labels: LabelVoices,
  { kind, presets }: ClipSupport,
): LabelVoices {
  if (voice === undefined) return labels;
  const [part] = voice;
  if (part === undefined || voice.length > 1) {
    throw new ConversationError("this model speaks with one voice at a time: choose one, and no mix");
  }
  if ("sample" in part) {
    if (kind === "presets") {
      throw new ConversationError("this model follows no recording: choose one of its own voices");
    }
    const turn = createSampleTurn(speaker, part.sample);
    return { presetOf: () => null, clipOf: (label) => (label === speaker ? turn : labels.clipOf(label)) };
  }
  const { id } = part;
  const preset = presets.includes(id.toLowerCase()) ? id.toLowerCase() : labels.presetOf(id);
  const clip = labels.clipOf(id);
  if (kind !== "presets" && clip === null) {
    throw new ConversationError(
      `this model has no voice of its own for ${JSON.stringify(id)}: choose a recording, or let its turns say how the speaker sounds`,
    );
  }
  return {
    presetOf: (label) => (label === speaker ? preset : labels.presetOf(label)),
    clipOf(label) {
      if (label !== speaker) return labels.clipOf(label);
      return clip === null ? null : { ...clip, speaker };
    },
  };
}

/** Creates a turn of a recording, with its text only if that can be all its words. */
function createSampleTurn(speaker: SpeakerLabel, { clip, text }: VoiceSample): SpokenTurn {
  const { samples, sampleRateHz, durationS, digest } = clip;
  const words = text === null ? "" : toPlainText(text);
  return {
    speaker,
    text: words !== "" && couldCoverAudio(words, durationS) ? words : null,
    audio: resample(samples, sampleRateHz, SAMPLE_RATE_HZ),
    digest,
  };
}

function checkPreset(label: SpeakerLabel, preset: string, { kind, presets }: ClipSupport): string {
  const name = preset.toLowerCase();
  if (presets.includes(name)) return name;
  const remedy =
    presets.length > 0
      ? `it has ${presets.join(", ")}`
      : kind === "presets"
        ? "leave it out, and describe a voice with instruct"
        : "give a clip";
  throw new OptionError(
    `voices.${label}: this checkpoint has no preset ${JSON.stringify(preset)}; ${remedy}.`,
  );
}

function createClipTurn(
  label: SpeakerLabel,
  { samples, text }: { readonly samples: Float32Array; readonly text: string },
  { kind, presets }: ClipSupport,
): SpokenTurn {
  if (kind === "presets") {
    const own = presets.length > 0 ? `: give a preset, one of ${presets.join(", ")}` : "";
    throw new OptionError(`voices.${label}: this checkpoint follows no clip${own}.`);
  }
  if (samples.length === 0) throw new OptionError(`voices.${label}: the clip is empty.`);
  const words = toPlainText(text);
  const durationS = samples.length / SAMPLE_RATE_HZ;
  if (words !== "" && !couldCoverAudio(words, durationS)) {
    throw new OptionError(
      `voices.${label}: the text cannot be that of ${durationS.toFixed(1)} s of speech: give all words of the clip and no others, or none.`,
    );
  }
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  const digest = `voice:${createHash("sha256").update(bytes).digest("hex")}`;
  return { speaker: label, text: words === "" ? null : words, audio: samples, digest };
}
