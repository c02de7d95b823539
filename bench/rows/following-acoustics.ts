import type { Acoustics } from "../following/acoustics.ts";
import type { Followings } from "../following/followings.ts";
import { furthest, least, mean, most, type Named, signed } from "../following/summary.ts";
import type { Reference } from "../references.ts";
import type { Row } from "../row.ts";

/**
 * The default model follows one clip of each of 14 people (`bench/reference-recipes.ts`; 5 to 12 s, words
 * unknown) and says 60 Harvard sentences at temperature 0. Medians and spread (standard deviation of the
 * logarithm) of voiced pitch.
 */
export const followingPitch: Row = {
  id: "following-pitch",
  what: "after hearing a person: our median pitch against theirs, mean and worst of 14 people; our pitch's spread ÷ theirs, least to most",
  goal: "worst ≤ 0.8 semitones; 0.85–1.15",
  async measure({ followings }) {
    const people = await peopleOf(followings);
    const errors = named(people, ({ pitchErrorSemitones }) => pitchErrorSemitones);
    const spreads = named(people, ({ pitchSpread }) => pitchSpread);
    const [name, worst] = furthest(errors);
    const [narrow, wide] = [least(spreads), most(spreads)];
    return {
      measured:
        `${mean(errors.map(([, error]) => Math.abs(error))).toFixed(2)}, ${signed(worst, 2)} semitones (${name}); ` +
        `${narrow[1].toFixed(2)} (${narrow[0]})–${wide[1].toFixed(2)} (${wide[0]})`,
      isMet: Math.abs(worst) <= 0.8 && narrow[1] >= 0.85 && wide[1] <= 1.15,
    };
  },
};

/**
 * Mean power of the frames with speech in critical bands, from 100 Hz to the clip's edge (7.7 kHz at most),
 * level removed. Two clips of one person, with other words, are 1.2 to 5.3 dB apart.
 */
export const followingSpectrum: Row = {
  id: "following-spectrum",
  what: "average spectrum against another clip of the same person, critical bands up to the clip's edge, without → with following: clean recordings; the others",
  goal: "≤ 3.0 dB; nobody further than without",
  async measure({ followings }) {
    const people = await peopleOf(followings);
    const clean = people.filter(({ reference }) => reference.kind === "clean");
    const others = people.filter(({ reference }) => reference.kind !== "clean");
    const after = (some: readonly Person[]) => mean(some.map(({ spectrumAfterDb }) => spectrumAfterDb));
    const shown = (some: readonly Person[]) =>
      `${mean(some.map(({ spectrumBeforeDb }) => spectrumBeforeDb)).toFixed(2)} → ${after(some).toFixed(2)} dB`;
    const away = people.filter((person) => person.spectrumAfterDb > person.spectrumBeforeDb);
    const whoIsAway =
      away.length === 0 ? "nobody further" : `further: ${away.map(({ reference }) => reference.name)}`;
    return {
      measured: `${shown(clean)}; ${shown(others)}; ${whoIsAway}`,
      isMet: after(clean) <= 3 && away.length === 0,
    };
  },
};

/** By BS.1770. Clips above −16.5 LUFS are listed separately, because peaks would be limited. */
export const followingLoudness: Row = {
  id: "following-loudness",
  what: "our loudness against the clip's (BS.1770), mean and worst; clips above −16.5 LUFS, which are followed up to there",
  goal: "worst ≤ 1.5 LU",
  async measure({ followings }) {
    const people = await peopleOf(followings);
    const usual = people.filter(({ clipLufs }) => clipLufs <= LOUDEST_LUFS);
    const errors = named(usual, ({ loudnessErrorLu }) => loudnessErrorLu);
    const [name, worst] = furthest(errors);
    const loud = people
      .filter((person) => !usual.includes(person))
      .map((person) => `${person.reference.name} ${signed(person.loudnessErrorLu, 1)}`);
    return {
      measured:
        `${mean(errors.map(([, error]) => Math.abs(error))).toFixed(2)}, ${signed(worst, 2)} LU (${name}); ` +
        `${loud.length === 0 ? "none" : loud.join(", ")}`,
      isMet: Math.abs(worst) <= 1.5,
    };
  },
};

/** Louder people are followed no further, lest our peaks be bent. */
const LOUDEST_LUFS = -16.5;

interface Person extends Acoustics {
  readonly reference: Reference;
}

async function peopleOf(followings: Followings): Promise<readonly Person[]> {
  const references = await followings.references();
  const acoustics = await followings.acoustics();
  return references.map((reference, index) => ({ ...acoustics[index]!, reference }));
}

function named(people: readonly Person[], of: (person: Person) => number): readonly Named[] {
  return people.map((person) => [person.reference.name, of(person)]);
}
