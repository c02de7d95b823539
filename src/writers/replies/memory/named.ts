import { stemsOf } from "../../heard/content-words.ts";
import { isNoName } from "../../heard/names.ts";
import { plain, sentencesIn } from "../../heard/sentences.ts";

/** Somebody or something whose name was told. */
export interface Named {
  readonly name: string;
  /** What it is to whoever told it: "sister", "boy in my class". */
  readonly kind: string;
  /** Whether it was called theirs. */
  readonly isTheirs: boolean;
}

/** All that somebody named in what they said, oldest first; questions name nobody. */
export function namedIn(said: readonly string[]): Named[] {
  const found = said
    .flatMap((text) => sentencesIn(plain(text)))
    .filter((sentence) => !sentence.endsWith("?"))
    .flatMap((sentence) => [...singles(sentence), ...rows(sentence)])
    .filter(({ name, kind }) => !isNoName(name) && !NO_KIND.test(kind));
  return found.filter(
    (one, n) => found.findIndex(({ name, kind }) => name === one.name && kind === one.kind) === n,
  );
}

function singles(sentence: string): Named[] {
  return SINGLES.flatMap((form) =>
    [...sentence.matchAll(form)].map(({ groups = {} }) => ({
      name: groups.name ?? "",
      kind: (groups.kind ?? "").toLowerCase(),
      isTheirs: /^(?:my|our)\b/i.test(groups.whose ?? ""),
    })),
  );
}

/** "My cats are Miso and Tofu." */
function rows(sentence: string): Named[] {
  return [...sentence.matchAll(ROW)].flatMap(({ groups = {} }) =>
    (groups.names ?? "").split(/, (?:and )?| and /).map((name) => ({
      name,
      kind: (groups.kind ?? "").toLowerCase(),
      isTheirs: true,
    })),
  );
}

/**
 * Answers what somebody or something is called, or who somebody is, from what was named. `null` where that is not asked, or
 * two may be meant.
 */
export function answerNamed(asked: string, named: readonly Named[]): string | null {
  const text = plain(asked)
    .replace(/[\s?.!]+$/, "")
    .replace(LEAD_IN, "")
    .replace(LEAD_OUT, "");
  if (text.length > MAX_CHARS) return null;
  const who = WHO.exec(text)?.[1];
  if (who !== undefined) {
    const same = named.filter(({ name }) => name.toLowerCase() === who.toLowerCase());
    const [one] = same;
    return one !== undefined && same.length === 1 && one.isTheirs ? `${one.name} is your ${one.kind}.` : null;
  }
  const kind = KIND.map((form) => form.exec(text)?.[1]).find((words) => words !== undefined);
  if (kind !== undefined) {
    const all = ofKind(kind, named);
    const [one] = all;
    if (one === undefined) return null;
    const isMany = /[^s]s$|\b(?:kids|children)$/.test(kind) || /^what are\b|names$/i.test(text);
    if (all.length > 1) return isMany ? `They're ${spoken(all.map(({ name }) => name))}.` : null;
    return isMany ? null : `That's ${one.name}.`;
  }
  if (!PRONOUN.test(text)) return null;
  const names = new Set(named.map(({ name }) => name));
  const [only] = names;
  return only !== undefined && names.size === 1 ? `That's ${only}.` : null;
}

/** Whether a turn asks what somebody is called of whom a pronoun speaks: "What did I say his name was?" */
export function asksNameOfPronoun(asked: string): boolean {
  return PRONOUN.test(
    plain(asked)
      .replace(/[\s?.!]+$/, "")
      .replace(LEAD_IN, "")
      .replace(LEAD_OUT, ""),
  );
}

function ofKind(words: string, named: readonly Named[]): Named[] {
  const wanted = stemsOf(words);
  return wanted.size === 0
    ? []
    : named.filter(({ kind }) => {
        const stems = stemsOf(kind);
        return [...wanted].every((stem) => stems.has(stem));
      });
}

function spoken(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : (names[0] ?? "");
}

const NAME = "(?<name>\\p{Lu}[\\p{Ll}'-]+(?: \\p{Lu}[\\p{Ll}-]+)?)";
const NAMES = "(?<names>\\p{Lu}[\\p{Ll}-]+(?:, \\p{Lu}[\\p{Ll}-]+)*,? and \\p{Lu}[\\p{Ll}-]+)";
const ENDS = "(?=[\\s,.!;]|'s\\b|$)";
const WHOSE = "(?<whose>[Mm]y|[Oo]ur|[Tt]he|[Aa]n?)";
const SINGLES: readonly RegExp[] = [
  new RegExp(
    `\\b(?<whose>[Mm]y|[Oo]ur) (?:(?:best|old|new|little|big|older|younger|elder|other|good|dear) )*(?<kind>\\p{Ll}{3,}),? ${NAME}${ENDS}`,
    "gu",
  ),
  new RegExp(
    `\\b${WHOSE} (?:(?:best|old|new|little|big|older|younger|elder) )*(?<kind>\\p{Ll}{3,}(?: (?:in|at|from|on|of) (?:my|our|the) \\p{Ll}+)?)(?:'s name is|'s called| is called| is named| called| named| whose name is) ${NAME}${ENDS}`,
    "gu",
  ),
  new RegExp(
    `(?:^|, | and |; |[.:] )${NAME}(?:'s| is) (?<whose>my|our|the) (?<kind>\\p{Ll}{3,})(?=$|[,.!;]| and\\b)`,
    "gu",
  ),
];
const ROW = new RegExp(
  `\\b(?:[Mm]y|[Oo]ur|[Tt]wo|[Tt]hree|[Ff]our) (?:two |three |four )?(?<kind>\\p{Ll}{2,}s|children)(?:,| are| are called| are named| called| named|:) ${NAMES}`,
  "gu",
);
/** What is followed by a name and not called by it. */
const NO_KIND =
  /^(?:way|on|in|at|to|from|with|for|and|trip|flight|visit|train|bus|friend of|holiday|weekend|birthday|one)$/;
const LEAD_IN =
  /^(?:(?:and|so|but|ok|okay|wait|hey|sorry|um+|er+|well|now|oh|a test:|now a test:|tell me|(?:do|can|could) you (?:still )?(?:remember|know|recall|tell me)|remind me|i forgot|what did i say|did i say)\b[,:.! ]*)+/i;
const LEAD_OUT = /(?:,? (?:again|then|please|by the way|now|do you (?:know|remember)))+$/i;
const WHO = /^who(?:'s| is| was) (\p{L}{2,})$/iu;
const KIND: readonly RegExp[] = [
  /^(?:what(?:'s| is| was| are| were) )?(?:the names? of )?(?:my|our|the) ([\w ]{2,40}?)(?:'s|s'|')? names?$/i,
  /^what(?:'s| is| was| are| were)? ?(?:my|our|the) ([\w ]{2,40}?)(?: is| are| was)? (?:called|named)$/i,
  /^what(?:'s| is| was| are| were) the names? of (?:my|our|the) ([\w ]{2,40}?)$/i,
  /^what (?:my|our|the) ([\w ]{2,40}?)(?:'s| is| are) (?:called|named)$/i,
  /^which (?:one )?(?:of (?:mine|them|my \w+) )?is (?:my|our|the) (\w{2,30})$/i,
  /^who(?:'s| is| was) (?:my|our|the) ([\w ]{2,30})$/i,
];
const PRONOUN =
  /^(?:(?:what(?:'s| is| was) )?(?:his|her|its|their) name(?: is| was)?|what(?:'s| is| was) (?:he|she|it) called|what (?:he|she|it)(?:'s| is) called)$/i;
const MAX_CHARS = 90;
