import type { Preset, RequestedManner, Script } from "../../core/script.ts";
import type { PlannedSpeaker } from "./plan-sentence.ts";

/** A script as a voice that its text names speaks it: whoever is heard in the history speaks elsewhere. */
export function spokenBy<S extends Pick<Script, "history" | "speaker" | "voice" | "textVoices">>(
  name: string,
  { voice: _usual, ...script }: S,
): Omit<S, "voice"> & Pick<Script, "voice"> {
  // Of a label nothing need be said.
  const { voice, speaker = script.speaker } = script.textVoices?.[name] ?? { speaker: name };
  return { ...script, history: [], speaker, ...(voice === undefined ? {} : { voice }) };
}

/** A speaker who speaks in a manner: their pitch, its range, their pauses and level moved by its figures. */
export function inManner<S extends PlannedSpeaker & { readonly gain: number }>(
  speaker: S,
  asked?: RequestedManner,
): S {
  if (asked === undefined) return speaker;
  const { register } = speaker;
  const { figures: manner } = asked;
  return {
    ...speaker,
    register: {
      centreHz: (medianHz: number) => register.centreHz(medianHz) * manner.pitch,
      spread: (deviation: number) => register.spread(deviation) * manner.range,
    },
    pause: speaker.pause * manner.pause,
    gain: speaker.gain * 10 ** (manner.levelDb / 20),
  };
}

/** A preset whose rate is so many times what it was. */
export function atRate(preset: Preset, factor: number): Preset {
  return { ...preset, rate: (typeof preset.rate === "number" ? preset.rate : 1) * factor };
}
