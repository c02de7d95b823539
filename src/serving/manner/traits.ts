import type { Manner } from "../../core/manner.ts";

/** What a voice can be asked to be. */
export type Trait = keyof typeof TRAITS;

interface TraitFigures {
  readonly figures: Partial<Manner>;
  readonly opposite?: string;
}

/**
 * What each comes to. The directions are those of Scherer's review of vocal emotion (Speech Communication 40, 2003, table
 * 2); how far is what was measured to cost hardly any words: docs/voices.md.
 */
export const TRAITS = {
  slower: { figures: { tempo: 0.85, pause: 1.2 }, opposite: "faster" },
  faster: { figures: { tempo: 1.15, pause: 0.8 }, opposite: "slower" },
  quieter: { figures: { levelDb: -6 }, opposite: "louder" },
  louder: { figures: { levelDb: 4 }, opposite: "quieter" },
  lower: { figures: { pitch: 0.9 }, opposite: "higher" },
  higher: { figures: { pitch: 1.11 }, opposite: "lower" },
  livelier: { figures: { range: 1.3, tempo: 1.03 }, opposite: "flatter" },
  flatter: { figures: { range: 0.6 }, opposite: "livelier" },
  cheerful: { figures: { tempo: 1.05, pitch: 1.07, range: 1.25, levelDb: 1, pause: 0.9 }, opposite: "sad" },
  sad: { figures: { tempo: 0.88, pitch: 0.94, range: 0.7, levelDb: -3, pause: 1.3 }, opposite: "cheerful" },
  excited: { figures: { tempo: 1.12, pitch: 1.1, range: 1.35, levelDb: 2, pause: 0.75 }, opposite: "calm" },
  calm: { figures: { tempo: 0.92, pitch: 0.97, range: 0.85, levelDb: -2, pause: 1.25 }, opposite: "excited" },
  serious: { figures: { tempo: 0.95, pitch: 0.94, range: 0.8, pause: 1.15 } },
  gentle: { figures: { tempo: 0.94, range: 0.9, levelDb: -3, pause: 1.15 } },
  angry: { figures: { tempo: 1.06, pitch: 1.03, range: 1.3, levelDb: 4, pause: 0.85 } },
  "longer pauses": { figures: { pause: 1.4 }, opposite: "shorter pauses" },
  "shorter pauses": { figures: { pause: 0.7 }, opposite: "longer pauses" },
} as const satisfies Record<string, TraitFigures>;

/** The one that cannot be asked for with it. */
export function oppositeOf(trait: Trait): Trait | null {
  return (TRAITS[trait] as { readonly opposite?: Trait }).opposite ?? null;
}

/** A trait, how much of it, and whether the word asks for no more than that. */
export interface Meaning {
  readonly trait: Trait;
  /** 1 is the trait's own figures. */
  readonly strength: number;
  readonly isAllOfIt: boolean;
}

/** What a word means, with or without an ending; or up to four, with a space between. */
export function meaningOf(words: string): Meaning | null {
  const known = MEANINGS.get(words);
  if (known !== undefined) return known;
  for (const [ending, stem] of ENDINGS) {
    if (!words.endsWith(ending)) continue;
    const found = MEANINGS.get(words.slice(0, -ending.length) + stem);
    if (found !== undefined) return found;
  }
  return null;
}

/** Traits that only somebody can have who speaks. A turtle is slow, a future bright; nothing but a person is cheerful. */
export const PERSONAL: ReadonlySet<Trait> = new Set<Trait>([
  "livelier",
  "serious",
  "cheerful",
  "sad",
  "excited",
  "calm",
  "gentle",
  "angry",
]);

/** Of happily, sadly, gently, weariness, calmness. */
const ENDINGS = [
  ["ily", "y"],
  ["ly", ""],
  ["ly", "le"],
  ["iness", "y"],
  ["ness", ""],
] as const;

const WORDS: readonly (readonly [Trait, strength: number, words: string])[] = [
  ["slower", 1, "slow slower slowed slowing leisurely unhurried measured deliberate"],
  [
    "faster",
    1,
    "fast faster quick quicker rapid swift brisk quicken hurried rushed rush rushing hurry hurrying speedy",
  ],
  ["quieter", 1, "quiet quieter soft softer hush hushed subdued muted murmur murmuring murmured"],
  ["louder", 1, "loud louder booming forceful"],
  ["higher", 1, "shrill squeaky"],
  ["livelier", 1, "lively livelier expressive animated dramatic theatrical varied melodic singsong playful"],
  ["flatter", 1, "flat flatter monotone monotonous deadpan robotic emotionless expressionless bored"],
  [
    "cheerful",
    1,
    "cheerful cheerfulness happy happier joyful joyous joy merry jolly upbeat cheery positive bright smiling delighted",
  ],
  ["cheerful", 0.5, "friendly warm welcoming pleasant amiable optimistic lighthearted inviting"],
  [
    "sad",
    1,
    "sad sadder unhappy sorrowful mournful melancholy melancholic gloomy somber sombre depressed dejected",
  ],
  ["sad", 0.6, "tired weary disappointed regretful wistful"],
  [
    "excited",
    1,
    "excited excitement enthusiastic energetic energized thrilled ecstatic exuberant eager passionate",
  ],
  ["calm", 1, "calm calmer calming relaxed relaxing peaceful serene tranquil composed mellow"],
  ["calm", 0.6, "patient reassuring steady meditative sleepy"],
  ["serious", 1, "serious grave solemn stern"],
  ["serious", 0.6, "formal authoritative earnest professional"],
  ["gentle", 1, "gentle tender soothing comforting caring compassionate empathetic sympathetic"],
  ["angry", 1, "angry angrier furious irritated annoyed outraged aggressive"],
];

const PHRASES: readonly (readonly [Trait, strength: number, phrases: readonly string[]])[] = [
  [
    "slower",
    1,
    [
      "take your time",
      "take it slow",
      "slow down",
      "no rush",
      "no hurry",
      "no need to hurry",
      "no need to rush",
    ],
  ],
  ["slower", 1, ["slow paced", "slow talking"]],
  [
    "faster",
    1,
    ["speed up", "speed it up", "hurry up", "pick up the pace", "fast paced", "quick paced", "fast talking"],
  ],
  ["quieter", 1, ["keep it down", "lower your voice", "your voice down", "soft spoken"]],
  ["quieter", 1.5, ["barely audible", "hardly audible", "barely audibly"]],
  ["louder", 1, ["speak up", "raise your voice"]],
  ["lower", 1, ["low pitched", "deep voiced", "deep pitched", "low voiced"]],
  ["higher", 1, ["high pitched"]],
  ["livelier", 1, ["with emotion", "with feeling", "full of emotion", "full of feeling"]],
  ["flatter", 1, ["without emotion", "without feeling", "no emotion", "no feeling", "without any emotion"]],
  ["excited", 1, ["high energy"]],
  ["calm", 1, ["tone it down", "low key", "low energy"]],
  ["longer pauses", 1, ["long pauses", "longer pauses", "more pauses", "frequent pauses", "dramatic pauses"]],
  ["longer pauses", 1, ["pause often", "pause more", "pause longer", "pause more often"]],
  [
    "shorter pauses",
    1,
    [
      "short pauses",
      "shorter pauses",
      "fewer pauses",
      "no pauses",
      "without pauses",
      "without any pauses",
      "few pauses",
    ],
  ],
];

/** Words for what is done as far as the level goes: the rest of it is not done. */
const PART_OF_IT: typeof WORDS = [
  ["quieter", 1.5, "whisper whispers whispered whispering whispery breathy"],
  ["louder", 1.5, "shout shouts shouted shouting yell yelling scream screaming"],
];

const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ...WORDS.flatMap(([trait, strength, words]) => meanings(words.split(" "), trait, strength, true)),
  ...PHRASES.flatMap(([trait, strength, phrases]) => meanings(phrases, trait, strength, true)),
  ...PART_OF_IT.flatMap(([trait, strength, words]) => meanings(words.split(" "), trait, strength, false)),
]);

function meanings(
  all: readonly string[],
  trait: Trait,
  strength: number,
  isAllOfIt: boolean,
): [string, Meaning][] {
  return all.map((each) => [each, { trait, strength, isAllOfIt }]);
}

export type Dimension = readonly [little: Trait, much: Trait];

/** What there is little and much of, by the words for it. */
export const DIMENSIONS: ReadonlyMap<string, Dimension> = new Map(
  (
    [
      [["quieter", "louder"], "volume loudness"],
      [["lower", "higher"], "pitch pitched tone register voice voiced"],
      [["slower", "faster"], "pace paced speed tempo rate cadence"],
      [["calm", "excited"], "energy enthusiasm intensity"],
      [["flatter", "livelier"], "expression expressiveness inflection intonation variation"],
    ] as const
  ).flatMap(([pair, words]) => words.split(" ").map((word) => [word, pair] as const)),
);

/** Words for how much there is of a dimension: 0 is little. */
export const AMOUNTS: ReadonlyMap<string, 0 | 1> = new Map([
  ...amounts(
    "low lower lowered lowest deep deeper reduce reduced decrease decreased drop down less minimum",
    0,
  ),
  ...amounts(
    "high higher highest raise raised increase increased up more lots lot much enough top full max maximum",
    1,
  ),
]);

/** Those that are about the pitch where no dimension is named. */
export const PITCHES: ReadonlySet<string> = setOf("low lower deep deeper high higher");

function amounts(words: string, amount: 0 | 1): (readonly [string, 0 | 1])[] {
  return words.split(" ").map((word) => [word, amount] as const);
}

/** Words, by a line of them. */
export function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}
