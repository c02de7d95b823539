import { stemsOf } from "../../heard/content-words.ts";
import { NUMBER_FORM, numberIn } from "../../heard/spoken-number.ts";
import { figures, rounded } from "./sums.ts";

/** A number and what it is of. */
export interface Amount {
  readonly value: number;
  /** The sign before it or the word after it; "" where there is neither, {@link SOME_MONEY} of a price without its coin. */
  readonly unit: string;
}

/** An amount as a sentence tells it. */
export interface Quantity extends Amount {
  /** -1 where it goes away, else 1. */
  readonly sign: 1 | -1;
  /** What has so much every time: "day", "ticket", or {@link EACH}; `null` of an amount that is told once. */
  readonly per: string | null;
  /** The whole of which it is a part: "12 pages out of 40". */
  readonly of: number | null;
  /** Whether its clause has no verb, so that it goes the way of the amount before it. */
  readonly isBare: boolean;
  /** Whether it is another one's doing, or their money. */
  readonly isOthers: boolean;
  /** Whether it is there already, or is what is aimed at. */
  readonly role: "had" | "goal" | null;
}

/** What somebody gets through in a time. */
export interface Pace {
  readonly amount: Amount;
  readonly time: Amount;
}

/** The unit of a price whose coin is not named. */
export const SOME_MONEY = "money";
/** Whatever it is that has so much every time. */
export const EACH = "each";

export function isMoney(unit: string): boolean {
  return /^[£$€]$/.test(unit) || unit === SOME_MONEY;
}

export function isPersons(unit: string): boolean {
  return PERSONS.test(unit);
}

/** Whether two words name the same sort of thing. */
export function sameThing(one: string, other: string): boolean {
  const stem = (unit: string) => [...stemsOf(unit)][0] ?? unit;
  return stem(one) === stem(other);
}

const PERSONS =
  /^(?:people|persons?|friends?|guests?|kids?|children|adults?|of us|us|mates?|heads?|colleagues|students)$/;

/** What a sentence counts or costs; no times, dates, ages or shares. */
export function quantitiesIn(sentence: string): Quantity[] {
  return [...sentence.matchAll(QUANTITY)].flatMap((match) => {
    const [found, currency = "", number = "", after = ""] = match;
    const start = match.index;
    const rest = sentence.slice(start + found.length);
    const lead = sentence.slice(Math.max(0, start - 40), start);
    const value = numberIn(number.replaceAll(",", "").toLowerCase());
    const isPlaced =
      NO_AMOUNT_BEFORE.test(lead) &&
      !FROM_TO.test(lead) &&
      !/^ ?(?:each|apiece|a piece|per)\b/.test(`${after}${rest}`);
    if (value === null || isPlaced || NO_AMOUNT_AFTER.test(`${after}${rest}`)) return [];
    if (/^one$/i.test(number) && currency === "") return [];
    const clause =
      sentence
        .slice(0, start)
        .split(/[,;]| and | but /)
        .at(-1) ?? "";
    const heads =
      OUR_NUMBER.test(lead) && /^ *(?:$|[,.!;]|and\b|but\b|so\b|of us\b|for\b)/.test(`${after}${rest}`);
    const unit = heads ? "of us" : unitOf(currency, after, clause, rest);
    const done = clause.replaceAll(COMES_IN, "got");
    const isOut = GOES.test(done) || GOES_AFTER.test(`${after}${rest}`.split(/[,;.]| and /)[0] ?? "");
    const whole = WHOLE.exec(`${NO_UNIT.has(after.trim().toLowerCase()) ? after : ""}${rest}`)?.[1];
    return [
      {
        // "Me and three friends."
        value: isPersons(unit) && /\b(?:me|myself) and $/i.test(lead) ? value + 1 : value,
        unit,
        sign: isOut ? (-1 as const) : (1 as const),
        per: perOf(after, rest, clause),
        of: whole === undefined ? null : numberIn(whole),
        isBare: !HAS_VERB.test(`${clause}${after}${rest.split(/[,;.]| and /)[0] ?? ""}`),
        isOthers: OTHERS.test(done),
        role:
          HAD.test(clause) || HAD_AFTER.test(rest.split(/[,;]| and /)[0] ?? "")
            ? ("had" as const)
            : GOAL.test(clause)
              ? ("goal" as const)
              : null,
      },
    ];
  });
}

function unitOf(currency: string, after: string, clause: string, rest: string): string {
  if (currency !== "") return currency;
  const word = after.trim().toLowerCase();
  const coin = MONEY_WORDS[word];
  if (coin !== undefined) return coin;
  if (word !== "" && !NO_UNIT.has(word) && !/(?:ed|ing)$/.test(word)) {
    const [, noun] = (!word.endsWith("s") && /^ (\p{Ll}{3,}s)\b/u.exec(rest)) || [];
    return noun === undefined ? word : `${word} ${noun}`;
  }
  return PRICED.test(clause) ? SOME_MONEY : "";
}

/** Of what there is so much each: "5 euros a day", "a ticket is 12", "packs of six eggs". */
function perOf(after: string, rest: string, clause: string): string | null {
  const behind = PER_AFTER.exec(
    `${/^(?: each| apiece| a| an| per| every)$/i.test(after) ? after : ""}${rest}`,
  );
  if (behind !== null) return behind[1]?.toLowerCase().replace(/s$/, "") ?? EACH;
  return (
    PER_BEFORE.map((form) => form.exec(clause)?.[1]?.toLowerCase()).find((word) => word !== undefined) ?? null
  );
}

const PER_AFTER =
  /^ ?(?:each\b|apiece\b|a piece\b|(?:a|an|per|every) (day|night|week|month|year|hour|minute|person|head|ticket|pack|box|go|time|piece|bag|bottle|room|lesson|class|session)\b)/i;
const PER_BEFORE: readonly RegExp[] = [
  /\b(?:an?|each|every|one|per) (\w+) (?:is|costs?|comes to|has|have|holds|takes|gives|makes)(?: about| only)? $/i,
  /\b(\w+s) (?:are|cost)(?: about| only)? $(?<=each .*)/i,
  /\b(packs?|boxes|bags|rows|sets|teams|groups|trays|bunches|tables) of $/i,
];
const QUANTITY = new RegExp(
  `(?<![\\w:/.-])([£$€]?) ?(${NUMBER_FORM})(?![\\w:/%-])((?: of us| (?!(?:and|or|but|at|on|to|for|in|from|each|with|then|so|is|are|was|were|a|an|per|every|apiece|out|of|plus|it|what|if|by)\\b)[\\p{L}'-]+)?)`,
  "giu",
);
const NO_AMOUNT_BEFORE =
  /\b(?:at|past|to|quarter|half|platform|number|room|gate|level|age|aged|chapter|page|until|till|by|before|after|turned|turns|am|i'm) $|\bout of $/i;
const NO_AMOUNT_AFTER =
  /^\s*(?:o'clock|[ap]\.?m\b|years?(?: old)?\b|months?\b|weeks?\b|days?\b|hours?\b|minutes?\b|%|percent|per cent|st\b|nd\b|rd\b|th\b|january|february|march|april|may|june|july|august|september|october|november|december)/i;
const FROM_TO = /\bfrom [£$€]?[\d.,]+ to $/i;
/** "We are six." */
const OUR_NUMBER =
  /\b(?:we(?:'re| are| were)|there(?:'s| are| is)|us|table for|between)(?: about| only| all| going to be| now)? $/i;
const WHOLE = new RegExp(`^ ?(?:out of|of the|of my) (?:the |a |my )?(${NUMBER_FORM})\\b`, "i");
const PRICED =
  /\b(?:bill|rent|price|fee|deposit|total|cottage|hotel|flights?|tickets?|fare|costs?|comes? to|came to|paid|pay|earn|earns|owe|owes|spent|spend|budget|salary|wage|charges?|charged|its|it's|it is|from|at)\b[^,;]*$/i;
const HAD =
  /\b(?:saved|have|i've|we've|got|had|put aside|put by|so far|done|read|finished|raised|collected|already)\b[^,;]*$/i;
const HAD_AFTER = /^[^,;]*\b(?:so far|already|saved|put (?:aside|by)|done)\b/i;
const GOAL =
  /\b(?:need|needs|costs?|is|it's|aim(?:ing)? for|goal|target|want|must have|has|there are|price)\b[^,;]*$/i;
const GOES =
  /\b(?:spent|spend|gave|give|given|handed|lent|lend|lost|lose|sold|sell|ate|eat|eaten|used|broke|broken|threw|throw|cancell?ed|minus|less|took out|paid|pay|cost|costs|rent|burnt|burned|dropped|drank|returned|sent back|except|without)\b[^,;]*$/i;
/** What somebody gives to whoever tells it. */
const COMES_IN = /\b(?:gave|gives?|lent|paid|pays|sent|sold) (?:me|us)\b/gi;
const HAS_VERB =
  /\b(?:i|i'm|i've|we|we've|he|she|they|there|it|it's|is|are|was|were|have|has|had|got|get|gets|need|needs|came|comes?|costs?|made|makes?|earn\w*|won|found|bought|\p{L}+ed)\b|\b(?:spent|spend|gave|lent|lost|sold|ate|used|paid|took|threw|drank|went|left|minus|plus)\b/iu;
const OTHERS =
  /\b(?:[Hh]e|[Ss]he|[Tt]hey|(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er) (?:\p{Ll}+ )?(?:wife|husband|partner|mother|mum|mom|father|dad|brother|sister|son|daughter|friend|boss|flatmate|neighbou?r|boyfriend|girlfriend|kids?|children))(?:'s|'ve|'d)? (?:(?:has|have|had|just|also|then|only) )*(?:ate|eats?|spent|spends?|gave|gives?|lent|lost|sold|paid|pays|earns?|makes?|owes?|has|have|had|got|gets|won|used|took|takes)\b|\b(?!We\b|You\b|Then\b|And\b|But\b|So\b|Now\b|There\b)\p{Lu}\p{Ll}+ (?:(?:has|have|had|just|also|then|only) )*(?:ate|spent|spends|gave|gives|lent|lost|sold|paid|pays|earns|makes|owes|won|used|took)\b|\bowes? (?:me|us)\b/u;
const GOES_AFTER =
  /\b(?:have |has |had |are |is |were |was |got |just )?(?:broke|broken|cancell?ed|can't (?:come|make it)|cannot come|dropped out|gone|went (?:off|bad|missing)|left|were eaten|burnt|got lost|died)\b/i;
const MONEY_WORDS: Readonly<Record<string, string>> = {
  pounds: "£",
  pound: "£",
  quid: "£",
  euros: "€",
  euro: "€",
  dollars: "$",
  dollar: "$",
  bucks: "$",
};
const NO_UNIT: ReadonlySet<string> = new Set(
  "of more left away already now altogether that which who we i they he she it again extra yesterday today there here gone went broke were just only off this saved can't cannot".split(
    " ",
  ),
);

/** What a sentence says that is got through in a time: "five kilometres in thirty minutes". */
export function pacesIn(sentence: string): Pace[] {
  return [...sentence.matchAll(PACE)].flatMap(([, amount = "", unit = "", time = "", period = ""]) => {
    const [value, long] = [
      numberIn(amount.toLowerCase()),
      time === "an" || time === "a" ? 1 : numberIn(time.toLowerCase()),
    ];
    return value === null || long === null
      ? []
      : [{ amount: { value, unit }, time: { value: long, unit: plural(period) } }];
  });
}

function plural(noun: string): string {
  return noun.endsWith("s") ? noun : `${noun}s`;
}

const PACE = new RegExp(
  `\\b(${NUMBER_FORM}) (\\p{L}+) in (?:about |roughly )?(an?|${NUMBER_FORM}) (seconds?|minutes?|hours?|days?|weeks?)\\b`,
  "giu",
);

/** An amount as it is said: "28 chairs", "about £33.33". */
export function withUnit(value: number, unit: string): string {
  const exact = rounded(value);
  const about = Math.abs(exact - value) > 1e-9 * Math.abs(value) ? "about " : "";
  if (isMoney(unit)) {
    const cents = Number.isInteger(Math.round(value * 100) / 100) ? 0 : 2;
    const money = Math.abs(value).toLocaleString("en-US", {
      minimumFractionDigits: cents,
      maximumFractionDigits: cents,
    });
    const near = Math.abs(Math.round(value * 100) / 100 - value) > 1e-9 ? "about " : "";
    return `${near}${value < 0 ? "minus " : ""}${unit === SOME_MONEY ? "" : unit}${money}`;
  }
  const noun = exact === 1 && /[^s]s$/.test(unit) ? unit.slice(0, -1) : unit;
  return `${about}${figures(exact)}${noun === "" ? "" : ` ${noun}`}`;
}
