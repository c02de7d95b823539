import type { Followings } from "./followings.ts";
import { mean, signed } from "./summary.ts";

/** How near the voice came to each person, for a document; what the rows have not measured yet is measured now. */
export async function followingTable(followings: Followings): Promise<string> {
  const references = await followings.references();
  const acoustics = await followings.acoustics();
  const { followed: likenesses, unfollowedP808 } = await followings.likenesses();
  const words = await followings.words();
  const people = references.map((reference, index) => ({
    ...reference,
    ...acoustics[index]!,
    ...likenesses[index]!,
    wordErrors: words.followed[index]!,
  }));
  type Person = (typeof people)[number];
  const average = (of: (person: Person) => number) => mean(people.map(of));
  const size = (of: (person: Person) => number) => average((person) => Math.abs(of(person)));
  const rows = people.map((person) => [
    person.name,
    person.sex,
    person.language,
    person.kind,
    signed(person.pitchErrorSemitones, 2),
    person.pitchSpread.toFixed(2),
    `${person.spectrumBeforeDb.toFixed(1)} → ${person.spectrumAfterDb.toFixed(1)}`,
    `${signed(person.loudnessErrorLu, 1)} (${signed(person.clipLufs, 1)})`,
    `${person.before.toFixed(2)} → ${person.after.toFixed(2)} (${person.sameHuman.toFixed(2)})`,
    person.share.toFixed(2),
    person.wordErrors.toFixed(3),
    person.p808.toFixed(2),
  ]);
  const means = [
    "**mean** (of sizes)",
    ...["", "", ""],
    size((person) => person.pitchErrorSemitones).toFixed(2),
    average((person) => person.pitchSpread).toFixed(2),
    `${average((person) => person.spectrumBeforeDb).toFixed(1)} → ${average((person) => person.spectrumAfterDb).toFixed(1)}`,
    size((person) => person.loudnessErrorLu).toFixed(1),
    `${average((person) => person.before).toFixed(2)} → ${average((person) => person.after).toFixed(2)} (${average((person) => person.sameHuman).toFixed(2)})`,
    average((person) => person.share).toFixed(2),
    average((person) => person.wordErrors).toFixed(3),
    average((person) => person.p808).toFixed(2),
  ];
  const unfollowed = [
    "without following",
    ...Array.from({ length: 9 }, () => ""),
    words.unfollowed.toFixed(3),
    unfollowedP808.toFixed(2),
  ];
  const all = [HEADING, HEADING.map(() => "---"), ...rows, means, unfollowed];
  return `${all.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}

const HEADING = [
  "who",
  "sex",
  "language",
  "recording",
  "pitch, semitones off",
  "spread ÷ theirs",
  "spectrum, dB off",
  "loudness, LU off (clip, LUFS)",
  "GE2E cosine (the person's own)",
  "share of the way",
  "word errors",
  "P.808",
];
