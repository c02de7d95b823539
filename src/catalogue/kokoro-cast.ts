import type { CastVoice, TakenVoices } from "../model/model-card.ts";

/** Name of the checkpoint that speaks with Kokoro-82M. */
export const KOKORO_CHECKPOINT = "kokoro";

/** Its voices' styles can be averaged; a recording is not followed. */
export const KOKORO_TAKES: TakenVoices = { mixes: true, samples: false, manner: "figures" };

/** Which of its voices the labels stand for, where the settings name no others. */
export const KOKORO_LABELS: Readonly<Record<string, string>> = { "0": "af_heart", "1": "am_michael" };

/** OpenAI's names, where a voice of ours answers to one: thirteen people of whom no two sound alike (see the decision). */
const ALIASES: Readonly<Record<string, string>> = {
  ...{ af_alloy: "alloy", af_river: "coral", bf_emma: "marin", af_heart: "nova", bf_lily: "sage" },
  ...{ af_nicole: "shimmer", am_adam: "ash", bm_daniel: "ballad", am_michael: "cedar", am_eric: "echo" },
  ...{ bm_fable: "fable", am_onyx: "onyx", am_puck: "verse" },
};

/** Medians of the pitch over a sentence in hertz, and what else there is to tell. */
const VOICES: readonly (readonly [id: string, pitchHz: number, more?: string])[] = [
  ["af_alloy", 145],
  ["af_aoede", 181],
  ["af_bella", 194],
  ["af_heart", 195],
  ["af_jessica", 206],
  ["af_kore", 150],
  ["af_nicole", 144, "whispering"],
  ["af_nova", 163],
  ["af_river", 181],
  ["af_sarah", 196],
  ["af_sky", 164],
  ["am_adam", 118],
  ["am_echo", 125],
  ["am_eric", 165],
  ["am_fenrir", 135],
  ["am_liam", 124],
  ["am_michael", 117],
  ["am_onyx", 87],
  ["am_puck", 115],
  ["am_santa", 191, "a joke"],
  ["bf_alice", 220],
  ["bf_emma", 182],
  ["bf_isabella", 211],
  ["bf_lily", 183],
  ["bm_daniel", 129],
  ["bm_fable", 113],
  ["bm_george", 141],
  ["bm_lewis", 88],
];

/** Kokoro's English voices. Text is read as American English is spoken; the British ones have their own sound alone. */
export const KOKORO_CAST: readonly CastVoice[] = VOICES.map(([id, pitchHz, more]) => {
  const sex = id[1] === "f" ? "female" : "male";
  const isBritish = id.startsWith("b");
  const about = [
    `A ${sex === "female" ? "woman's" : "man's"} voice at about ${pitchHz} Hz`,
    ...(more === undefined ? [] : [more]),
    ...(isBritish ? ["American English words in a British voice"] : []),
  ];
  const alias = ALIASES[id];
  return {
    id,
    name: capitalised(id.slice(3)),
    sex,
    accent: "en-US",
    description: `${about.join(", ")}.`,
    aliases: alias === undefined ? [] : [alias],
  };
});

function capitalised(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
