import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { resample } from "../audio/resample.ts";
import { PUBLIC_MODELS } from "../catalogue/public-models.ts";
import type { LabelVoice } from "../engines/codec-lm/speech/voices.ts";
import type { CodecLmSettings } from "../settings/model-settings.ts";
import { SettingsError } from "../settings/settings-error.ts";
import type { CodecLmKind } from "./codec-lm-card.ts";
import { readRecording } from "./read-recording.ts";
import { WrongCallError } from "./wrong-call-error.ts";

/** The speakers of every public model. */
const SPEAKERS = PUBLIC_MODELS[0]!.card.speakers;
/** What a voice is known by; more makes it no better, and the models forget the oldest of a conversation for it. */
const CLIP_S = { least: 1, most: 30 } as const;

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
  checkManner(language, instruct, kind, setting);
  const shown = SPEAKERS.map((label) => JSON.stringify(label)).join(" and ");
  const read: Record<string, LabelVoice> = {};
  for (const [label, voice] of Object.entries(voices)) {
    const where = `${setting}.voices.${label}`;
    if (!SPEAKERS.includes(label)) {
      throw refused(`${setting}.voices`, `names the speaker "${label}": every model's speakers are ${shown}`);
    }
    if ("preset" in voice) {
      checkPreset(voice.preset, kind, where);
      read[label] = { preset: voice.preset };
    } else {
      if (kind !== null && kind.kind !== "base") {
        throw refused(
          where,
          "has a clip, and this checkpoint follows none: name one of its own voices as preset",
        );
      }
      read[label] = { clip: { samples: await clipOf(voice.clip, `${where}.clip`), text: voice.text ?? "" } };
    }
  }
  return read;
}

function checkManner(
  language: string | undefined,
  instruct: string | undefined,
  kind: CodecLmKind,
  setting: string,
): void {
  if (kind === null) {
    const name = language !== undefined ? "language" : instruct !== undefined ? "instruct" : null;
    if (name !== null)
      throw refused(`${setting}.${name}`, "is for Qwen3-TTS, and this is a CSM: leave it out");
    return;
  }
  if (instruct !== undefined && kind.kind === "base") {
    throw refused(
      `${setting}.instruct`,
      "is for checkpoints that take instructions, which a base one does not",
    );
  }
  const known = [...kind.languages.keys()];
  if (language !== undefined && language !== "auto" && !kind.languages.has(language.toLowerCase())) {
    throw refused(`${setting}.language`, `is "${language}": name one of auto, ${known.join(", ")}`);
  }
}

function checkPreset(preset: string, kind: CodecLmKind, where: string): void {
  if (kind === null || kind.kind !== "custom_voice") {
    throw refused(where, "names a preset, and this checkpoint has none: give it a clip and its text");
  }
  if (!kind.speakers.has(preset.toLowerCase())) {
    throw refused(`${where}.preset`, `is "${preset}": name one of ${[...kind.speakers.keys()].join(", ")}`);
  }
}

async function clipOf(file: string, where: string): Promise<Float32Array> {
  try {
    const { signal } = new AbortController();
    const sound = await readRecording(file, signal);
    const { sampleRateHz } = sound;
    const samples = await sound.read(CLIP_S.most * sampleRateHz + 1, signal);
    const isLong = samples.length > CLIP_S.most * sampleRateHz;
    const durationS = isLong ? sound.boundS : samples.length / sampleRateHz;
    if (durationS < CLIP_S.least || durationS > CLIP_S.most) {
      const s = durationS.toFixed(1);
      throw refused(where, `is ${s} s long: give a recording of ${CLIP_S.least} to ${CLIP_S.most} s`);
    }
    return new Float32Array(resample(samples, sampleRateHz, SAMPLE_RATE_HZ));
  } catch (error) {
    if (!(error instanceof WrongCallError)) throw error;
    throw refused(where, `cannot be used. ${error.message.replace(/\.$/, "")}`);
  }
}

function refused(setting: string, why: string): SettingsError {
  return new SettingsError("file", `The setting ${setting} ${why}.`);
}
