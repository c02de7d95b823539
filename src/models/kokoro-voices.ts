import type { ModelVoice, VoiceSupport } from "../core/model-card.ts";

export const KOKORO_CHECKPOINT = "kokoro";

/** Its voices' styles can be averaged. */
export const KOKORO_VOICE_SUPPORT: VoiceSupport = {
  mixes: true,
  samples: true,
  manner: "figures",
  marks: true,
  oneLanguage: true,
};

/** Default voices of the speaker labels. */
export const KOKORO_SPEAKER_VOICES: Readonly<Record<string, string>> = { "0": "af_heart", "1": "am_michael" };

/** The voice whose vocal tract has length 1. */
const REFERENCE = "af_heart";

/** Voices of the speaker labels in requests that name a language. */
export const KOKORO_LANGUAGE_LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "en-US": KOKORO_SPEAKER_VOICES,
  "en-GB": { "0": "bf_emma", "1": "bm_daniel" },
  es: { "0": "ef_dora", "1": "em_alex" },
  it: { "0": "if_sara", "1": "im_nicola" },
};

/** Returns the voices to measure before Kokoro first speaks; others are measured when idle or on first use. */
export function voicesMeasuredFirst(labels: Readonly<Record<string, string>>): string[] {
  return [...new Set([REFERENCE, ...Object.values(labels)])];
}

/** OpenAI's names of our voices: thirteen people, no two of whom sound alike. */
const ALIASES: Readonly<Record<string, string>> = {
  ...{ af_alloy: "alloy", af_river: "coral", bf_emma: "marin", af_heart: "nova", bf_lily: "sage" },
  ...{ af_nicole: "shimmer", am_adam: "ash", bm_daniel: "ballad", am_michael: "cedar", am_eric: "echo" },
  ...{ bm_fable: "fable", am_onyx: "onyx", am_puck: "verse" },
};

/**
 * Median perceived pitch in hertz; vocal tract length relative to the reference, as following estimates it; remarks.
 */
const MEASURED_VOICES: readonly (readonly [id: string, pitchHz: number, tract: number, more?: string])[] = [
  ["af_alloy", 136, 0.91],
  ["af_aoede", 172, 0.95],
  ["af_bella", 184, 1.02],
  ["af_heart", 189, 1],
  ["af_jessica", 205, 1.04],
  ["af_kore", 143, 0.93],
  ["af_nicole", 146, 0.95, "whispering"],
  ["af_nova", 154, 0.95],
  ["af_river", 175, 0.9],
  ["af_sarah", 184, 0.97],
  ["af_sky", 155, 0.92],
  ["am_adam", 111, 0.85],
  ["am_echo", 102, 0.89],
  ["am_eric", 150, 0.84],
  ["am_fenrir", 126, 0.9],
  ["am_liam", 111, 0.76],
  ["am_michael", 107, 0.76],
  ["am_onyx", 84, 0.76],
  ["am_puck", 108, 0.87],
  ["am_santa", 184, 0.84, "a joke"],
  ["bf_alice", 216, 1.05],
  ["bf_emma", 177, 0.96],
  ["bf_isabella", 197, 1.03],
  ["bf_lily", 172, 0.97],
  ["bm_daniel", 122, 0.83],
  ["bm_fable", 111, 0.9],
  ["bm_george", 139, 0.78],
  ["bm_lewis", 80, 0.85],
  ["ef_dora", 173, 0.92],
  ["em_alex", 128, 0.85],
  ["em_santa", 134, 0.76, "a joke"],
  ["if_sara", 227, 0.97],
  ["im_nicola", 97, 0.83],
];

/** What is spoken by the voices whose ids begin with a letter. */
const LANGUAGES: Readonly<Record<string, readonly [tag: string, remark: string]>> = {
  b: ["en-GB", "British"],
  e: ["es", "Spanish, as in Latin America"],
  i: ["it", "Italian"],
};

/** Kokoro's voices of the languages that are read here. A text is read in its voice's language. */
export const KOKORO_VOICES: readonly ModelVoice[] = MEASURED_VOICES.map(([id, pitchHz, , more]) => {
  const sex = id[1] === "f" ? "female" : "male";
  const [language, remark] = LANGUAGES[id.charAt(0)] ?? ["en-US"];
  const about = [
    `A ${sex === "female" ? "woman's" : "man's"} voice at about ${pitchHz} Hz`,
    ...(more === undefined ? [] : [more]),
    ...(remark === undefined ? [] : [remark]),
  ];
  const alias = ALIASES[id];
  return {
    id,
    name: nameOf(id),
    sex,
    language,
    description: `${about.join(", ")}.`,
    aliases: alias === undefined ? [] : [alias],
  };
});

/** Returns the display name: the id, if the voice's own name is OpenAI's for another one, or an earlier voice's. */
function nameOf(id: string): string {
  const own = id.slice(3);
  const named = MEASURED_VOICES.find(([each]) => each.slice(3) === own)?.[0];
  const meant = Object.keys(ALIASES).find((each) => ALIASES[each] === own) ?? named;
  return meant === id ? `${own.charAt(0).toUpperCase()}${own.slice(1)}` : id;
}

/** Voices that following may start from: ordinary ones only. */
export const KOKORO_STARTING_VOICES = {
  reference: REFERENCE,
  voices: MEASURED_VOICES.flatMap(([id, pitchHz, tract, more]) =>
    more === undefined ? [{ id, pitchHz, tract }] : [],
  ),
};
