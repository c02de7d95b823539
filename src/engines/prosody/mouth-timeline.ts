import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { Mouth, TimedName } from "../../core/speech-model.ts";
import type { Plan } from "./plan.ts";
import { type Placement, sampleOf } from "./sentence-audio.ts";
import { LAST_MARK_ID } from "./spoken-words.ts";
import { soundEnd, soundStarts } from "./word-timeline.ts";

export interface FramedSound {
  readonly name: string;
  readonly fromFrame: number;
  readonly toFrame: number;
}

export interface MouthPlan {
  readonly phonemes: readonly FramedSound[];
  readonly visemes: readonly FramedSound[];
}

/** The mouth at rest. */
const REST = "sil";

/** Returns a segment's visemes (Oculus). An h takes the shape of the sound after it; in pauses the mouth rests. */
export function mouthPlan(
  plan: Pick<Plan, "ids" | "steps" | "energy">,
  phonemeOf: (id: number) => string,
): MouthPlan {
  const phonemes = soundsOf(plan, phonemeOf);
  const visemes: FramedSound[] = [];
  const add = (name: string, fromFrame: number, toFrame: number) => {
    const last = visemes.at(-1);
    if (toFrame <= fromFrame) return;
    if (last?.name === name) visemes[visemes.length - 1] = { ...last, toFrame };
    else visemes.push({ name, fromFrame, toFrame });
  };
  for (const [index, { name, fromFrame, toFrame }] of phonemes.entries()) {
    const shapes = VISEMES.get(name) ?? VISEMES.get(phonemes[index + 1]?.name ?? "")?.slice(0, 1) ?? ["E"];
    const middle = Math.ceil((fromFrame + toFrame) / 2);
    add(shapes[0]!, fromFrame, shapes.length > 1 ? middle : toFrame);
    if (shapes.length > 1) add(shapes[1]!, middle, toFrame);
    add(REST, toFrame, phonemes[index + 1]?.fromFrame ?? toFrame);
  }
  return { phonemes, visemes };
}

/** Phonemes and visemes over an utterance. Between segments the mouth rests. */
export class MouthTimeline {
  readonly #maxSamples: number;
  #phonemes: Placed[] = [];
  #visemes: Placed[] = [];
  /** Sample up to which the mouth's shape is known. */
  #known = 0;

  /** @param maxSamples the audio's maximum: sounds that start later are dropped, ends are limited to it */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  place({ phonemes, visemes }: MouthPlan, placement: Placement): void {
    const place = ({ name, fromFrame, toFrame }: FramedSound): Placed => ({
      name,
      from: sampleOf(placement, fromFrame),
      to: sampleOf(placement, toFrame),
    });
    const placed = visemes.map(place);
    this.rest(placed[0]?.from ?? this.#known);
    this.#visemes.push(...placed.filter((viseme) => this.#isAudible(viseme)));
    this.#phonemes.push(...phonemes.map(place).filter((phoneme) => this.#isAudible(phoneme)));
    this.#known = placed.at(-1)?.to ?? this.#known;
  }

  rest(untilSample: number): void {
    const rest = { name: REST, from: this.#known, to: untilSample };
    if (this.#isAudible(rest)) this.#visemes.push(rest);
    this.#known = Math.max(this.#known, untilSample);
  }

  /** Returns what starts before a sample and was not returned yet. */
  take(beforeSample: number): Mouth {
    const take = (waiting: Placed[]): [TimedName[], Placed[]] => {
      const begun = waiting.filter(({ from }) => from < beforeSample);
      return [begun.map((each) => this.#timed(each)), waiting.slice(begun.length)];
    };
    const [phonemes, phonemesLeft] = take(this.#phonemes);
    const [visemes, visemesLeft] = take(this.#visemes);
    this.#phonemes = phonemesLeft;
    this.#visemes = visemesLeft;
    return { phonemes, visemes };
  }

  #isAudible({ from, to }: Placed): boolean {
    return from < to && from < this.#maxSamples;
  }

  #timed({ name, from, to }: Placed): TimedName {
    return { name, startS: from / SAMPLE_RATE_HZ, endS: Math.min(to, this.#maxSamples) / SAMPLE_RATE_HZ };
  }
}

/** Stress marks extend the vowel, spaces the sound after them, length marks the sound before. */
function soundsOf(
  { ids, steps, energy }: Pick<Plan, "ids" | "steps" | "energy">,
  phonemeOf: (id: number) => string,
): FramedSound[] {
  const starts = soundStarts(steps);
  const sounds: FramedSound[] = [];
  let fromFrame: number | null = null;
  let hasPause = true;
  for (const [index, id] of ids.entries()) {
    const name = phonemeOf(id);
    const last = sounds.at(-1);
    if (id <= LAST_MARK_ID) {
      hasPause ||= id !== LAST_MARK_ID;
      fromFrame = hasPause ? null : starts[index]!;
      if (last !== undefined && id !== LAST_MARK_ID)
        sounds[sounds.length - 1] = { ...last, toFrame: soundEnd(energy, last.fromFrame, last.toFrame) };
      continue;
    }
    if (name === "ˈ" || name === "ˌ") fromFrame ??= starts[index]!;
    else if (name === "ː" && last !== undefined) {
      sounds[sounds.length - 1] = { ...last, toFrame: starts[index + 1]! };
      continue;
    }
    const start = fromFrame ?? starts[index]!;
    if (!hasPause && last !== undefined) sounds[sounds.length - 1] = { ...last, toFrame: start };
    hasPause = false;
    if (name === "ˈ" || name === "ˌ") continue;
    sounds.push({ name, fromFrame: start, toFrame: starts[index + 1]! });
    fromFrame = null;
  }
  return sounds;
}

const SHAPES: readonly (readonly [shapes: string, phonemes: string])[] = [
  ["PP", "p b m β"],
  ["FF", "f v"],
  ["TH", "θ ð"],
  ["DD", "t d T ʔ"],
  ["kk", "k ɡ x ɣ"],
  ["CH", "ʧ ʤ ʃ ʒ"],
  ["SS", "s z ʦ ʣ"],
  ["nn", "n l ŋ ɲ ʎ"],
  ["RR", "ɹ r ɾ"],
  ["aa", "ɑ æ ʌ ɐ a"],
  ["E", "ɛ ə ᵊ ɜ e"],
  ["I", "ɪ i ᵻ j ʝ"],
  ["O", "ɔ ɒ o"],
  ["U", "ʊ u w"],
  ["E I", "A"],
  ["aa I", "I"],
  ["O U", "O Q"],
  ["aa U", "W"],
  ["O I", "Y"],
];
const VISEMES: ReadonlyMap<string, readonly string[]> = new Map(
  SHAPES.flatMap(([shapes, phonemes]) =>
    phonemes.split(" ").map((phoneme) => [phoneme, shapes.split(" ")] as const),
  ),
);

interface Placed {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}
