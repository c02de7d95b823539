/**
 * What somebody said of themselves as it is said back to them: "I was", "my" and "we" become "you were", "your" and "you".
 * `null` where it speaks to somebody as "you" already, or of "us two", so that nobody could tell who is meant.
 */
export function inSecondPerson(clause: string): string | null {
  if (ADDRESSES.test(clause)) return null;
  return TURNS.reduce((text, [form, to]) => text.replaceAll(form, to), clause);
}

const BETWEEN = "((?:\\w+ly |also |just |only |always |never |still |even |both )?)";
const TURNS: readonly (readonly [form: RegExp, to: string])[] = [
  // In "what I said was" the verb has another subject, but "said" stands between.
  [new RegExp(`\\b(?:i|we) ${BETWEEN}was\\b`, "gi"), "you $1were"],
  [new RegExp(`\\b(?:i|we) ${BETWEEN}(?:am|are)\\b`, "gi"), "you $1are"],
  [/\b(?:i|we) wasn't\b/gi, "you weren't"],
  [/\b(?:i'm|im|we're)\b/gi, "you're"],
  [/\b(?:i|we)('ve|'d|'ll)\b/gi, "you$1"],
  [/\bive\b/gi, "you've"],
  [/\bwas i\b/gi, "were you"],
  [/\bam i\b/gi, "are you"],
  [/\b(?:my|our)\b/gi, "your"],
  [/\b(?:mine|ours)\b/gi, "yours"],
  [/\bmyself\b/gi, "yourself"],
  [/\bourselves\b/gi, "yourselves"],
  // The US is a country.
  [/\b(?:[Ii]|[Ww]e|[Mm]e|[Uu]s|WE|ME)\b(?!')/g, "you"],
];
const ADDRESSES = /\b(?:you|your|yours|yourself|u|ur|you'\w+|youre|let's|lets)\b|\bain't\b/i;
