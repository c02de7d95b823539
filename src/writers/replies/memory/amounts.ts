import type { SpeakerLabel, Turn } from "../../../model/conversation.ts";
import { stemsOf } from "../content-words.ts";
import { numberIn } from "../spoken-number.ts";
import { figures, isSayable, rounded } from "../sums.ts";
import { MAX_TURN_CHARS, plain, sentencesIn } from "./statements.ts";
import { NUMBER_FORM } from "./values.ts";

/**
 * Works out what is asked of amounts that were told over several turns: "Divide that by four", after a sum; "So how many
 * are left?", after forty chairs of which twelve were lent. `null` unless every step is plain.
 */
export function sumOverTurns(history: readonly Turn[], speaker: SpeakerLabel): string | null {
  const newest = history.at(-1);
  if (newest?.text == null || newest.text.length > MAX_TURN_CHARS) return null;
  const theirs = history
    .filter((turn) => turn.speaker === newest.speaker && turn.text !== null)
    .slice(-MAX_TURNS)
    .map(({ text }) => plain(text ?? ""))
    .filter((text) => text.length <= MAX_TURN_CHARS);
  const sentences = sentencesIn(newest.text);
  const asked = (sentences.at(-1) ?? "")
    .toLowerCase()
    .replace(/[\s?.!]+$/, "")
    .replace(LEAD_IN, "")
    .replace(LEAD_OUT, "");
  if (asked.length > MAX_CHARS) return null;
  const before = history.at(-2);
  const last =
    sentences.length === 1 && before?.speaker === speaker && before.text !== null
      ? (lastAmount(before.text) ?? lastAmount(theirs.at(-2) ?? ""))
      : null;
  return (last === null ? null : goneOn(asked, last)) ?? ofWhatWasTold(asked, theirs);
}

/** A number and what it is of. */
interface Amount {
  readonly value: number;
  /** The sign before it or the word after it; "" where there is neither. */
  readonly unit: string;
}

/** The one amount that a turn ends with; `null` where there are several, or none. */
function lastAmount(turn: string): Amount | null {
  const sentence = sentencesIn(turn).findLast((each) => quantitiesIn(each).length > 0);
  const all = sentence === undefined ? [] : quantitiesIn(sentence);
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  // "5 times 8 is 40."
  const result = /\b(?:is|are|makes|leaves|equals|=) (?:about |roughly )?(.+)$/i.exec(sentence ?? "")?.[1];
  const results = result === undefined ? [] : quantitiesIn(result);
  return results.length === 1 ? (results[0] ?? null) : null;
}

/** What comes of an amount by one more step. */
function goneOn(asked: string, { value, unit }: Amount): string | null {
  for (const [form, apply] of STEPS) {
    const match = form.exec(asked);
    if (match === null) continue;
    const operand = match[1] === undefined ? 0 : numberIn(match[1].replace(/^[£$€]/, ""));
    if (operand === null) return null;
    const result = apply(value, operand);
    return Number.isFinite(result) && isSayable(result) ? `That's ${withUnit(result, unit)}.` : null;
  }
  return null;
}

const N = `([£$€]?(?:an? )?[\\w,.-]+(?: (?:hundred|thousand|and a half|[a-z]+))?)`;
const IT = "(?:that|it|this|them|those|the (?:total|result|lot|bill|answer|sum))";
const PEOPLE = "(?: (?:people|persons|of us|ways|friends|guests|kids|children|parts|pieces|then))?";
type Step = (value: number, by: number) => number;
const STEPS: readonly (readonly [RegExp, Step])[] = (
  [
    [
      `(?:and )?(?:divided?|split|share)(?: ${IT})?(?: up)? (?:by|between|among|amongst|into|in) ${N}${PEOPLE}`,
      (a, b) => a / b,
    ],
    [`(?:what(?:'s| is| if you) )?(?:${IT} )?divided? by ${N}`, (a, b) => a / b],
    [
      `(?:and )?(?:what(?:'s| is) )?(?:${IT} )?(?:times|multipl(?:y|ied)(?: ${IT})? by) ${N}`,
      (a, b) => a * b,
    ],
    [`(?:and )?(?:what(?:'s| is) )?(?:double|twice) (?:${IT})`, (a) => a * 2],
    [`(?:and )?(?:what(?:'s| is) )?(?:triple|three times) (?:${IT})`, (a) => a * 3],
    [`(?:and )?(?:what(?:'s| is) )?(?:half(?: of)?|halve) (?:${IT})`, (a) => a / 2],
    [`(?:and )?(?:what(?:'s| is) )?a (?:quarter|fourth) of ${IT}`, (a) => a / 4],
    [`(?:and )?(?:what(?:'s| is) )?a third of ${IT}`, (a) => a / 3],
    [`(?:and )?(?:what(?:'s| is) )?${N} ?(?:%|percent|per cent) of ${IT}`, (a, b) => (a * b) / 100],
    [
      `(?:and )?(?:with |add |plus |and )(?:an? )?${N} ?(?:%|percent|per cent)(?: (?:tip|vat|tax|more|service|on top|to ${IT}))?`,
      (a, b) => a * (1 + b / 100),
    ],
    [
      `(?:and )?(?:with |take |minus |less )?(?:an? )?${N} ?(?:%|percent|per cent) (?:off|discount|less|reduction)(?: ${IT})?`,
      (a, b) => a * (1 - b / 100),
    ],
    [
      `(?:and )?(?:what(?:'s| is) )?(?:${IT} )?(?:plus|add(?:ed)?(?: to)?) ${N}(?: (?:to|on to) ${IT})?`,
      (a, b) => a + b,
    ],
    [
      `(?:and )?(?:what(?:'s| is) )?(?:${IT} )?(?:minus|less|take away|take off|subtract|take|knock off) ${N}(?: (?:off|from|away from|away|out of) ?${IT}?)?`,
      (a, b) => a - b,
    ],
  ] as readonly (readonly [string, Step])[]
).map(([form, apply]) => [new RegExp(`^${form}$`, "i"), apply] as const);

/** What is left, or comes together, or falls to each, of what somebody told. */
function ofWhatWasTold(asked: string, theirs: readonly string[]): string | null {
  const form = FORMS.find(([, test]) => test.test(asked))?.[0];
  if (form === undefined) return null;
  const all = theirs.flatMap((turn) => sentencesIn(turn).flatMap((sentence) => quantitiesIn(sentence)));
  if (all.length < 2 || theirs.some((turn) => CORRECTS.test(turn))) return null;
  const people = all.filter(({ unit }) => PERSONS.test(unit));
  const wanted = /\bmoney\b|\bhow much\b|\bcost|\bpay\b|\bspen[dt]\b/.test(asked)
    ? "money"
    : (COUNTED.exec(asked)?.[1] ?? null);
  if (form === "each") {
    const things = all.filter((one) => !PERSONS.test(one.unit));
    const heads = people.length === 1 ? people[0]?.value : undefined;
    const total = ofOneUnit(things, wanted);
    if (heads === undefined || heads <= 0 || total === null) return null;
    const sum = total.amounts.reduce((left, { value, sign }) => left + sign * value, 0);
    return spoken("That's", Math.abs(sum) / heads, total.unit, "each");
  }
  const one = ofOneUnit(all, wanted);
  if (one === null || one.amounts.length < 2) return null;
  if (form === "left") {
    const [first, ...rest] = one.amounts;
    if (first === undefined || rest.every(({ sign }) => sign > 0)) return null;
    const left = rest.reduce((sum, { value, sign }) => sum + sign * value, first.value);
    return left < 0 ? null : spoken("That leaves", left, one.unit, "");
  }
  // Of what was spent, the word is said but once.
  if (!MONEY.test(one.unit) && one.amounts.some(({ sign }) => sign !== one.amounts[0]?.sign)) return null;
  const total = one.amounts.reduce((sum, { value }) => sum + value, 0);
  return spoken("That's", total, one.unit, "altogether");
}

const FORMS: readonly (readonly [form: "left" | "total" | "each", test: RegExp])[] = [
  ["each", /\b(?:each|per (?:person|head)|a head|apiece|split(?: (?:it|that))?(?: between us)?$)/],
  [
    "left",
    /^(?:so )?how (?:many|much)\b.*\b(?:left|remain\w*|over|still (?:have|got|need|to go))\b|^what(?:'s| is| does that)\b.*\b(?:left|leave)\b/,
  ],
  ["total", /\b(?:altogether|all together|in total|in all|the total|total up to|all in)\b/],
];
const COUNTED = /\bhow many ([a-z]{3,})\b(?! (?:is|are|do|have|will|left|altogether)\b)?/;
const PERSONS = /^(?:people|persons?|friends?|guests?|kids?|children|adults?|of us|us|mates?)$/;

/** Those of the unit that is wanted, where all of them are of one. */
function ofOneUnit(
  all: readonly Quantity[],
  wanted: string | null,
): { readonly amounts: readonly Quantity[]; readonly unit: string } | null {
  const isMoney = ({ unit }: Quantity) => MONEY.test(unit);
  const stem = (unit: string) => [...stemsOf(unit)][0] ?? unit;
  const money = all.filter(isMoney);
  if (wanted === "money") {
    const units = new Set(money.map(({ unit }) => unit));
    return units.size === 1 ? { amounts: money, unit: money[0]?.unit ?? "" } : null;
  }
  const counted = all.filter((one) => !isMoney(one));
  if (money.length > 0) return null;
  const named = counted.find(({ unit }) => unit !== "");
  if (named === undefined) return null;
  // "Forty chairs, and we lent twelve": what has no word of its own is of the same.
  const alike = counted.every(({ unit }) => unit === "" || stem(unit) === stem(named.unit));
  const isWanted = wanted === null || stem(wanted) === stem(named.unit) || OPEN_COUNT.test(wanted);
  return alike && isWanted ? { amounts: counted, unit: named.unit } : null;
}

const OPEN_COUNT = /^(?:are|is|do|have|will|left|of|did|does|would|can)$/;

interface Quantity extends Amount {
  /** -1 where it goes away, else 1. */
  readonly sign: 1 | -1;
}

/** What a sentence counts or costs; no times, dates, ages or shares. */
function quantitiesIn(sentence: string): Quantity[] {
  return [...sentence.matchAll(QUANTITY)].flatMap((match) => {
    const [whole, currency = "", number = "", after = ""] = match;
    const start = match.index;
    const rest = sentence.slice(start + whole.length);
    const lead = sentence.slice(Math.max(0, start - 24), start);
    const value = numberIn(number.replaceAll(",", "").toLowerCase());
    if (value === null || NO_AMOUNT_BEFORE.test(lead) || NO_AMOUNT_AFTER.test(`${after}${rest}`)) return [];
    if (/^one$/i.test(number) && currency === "") return [];
    const word = after.trim().toLowerCase();
    const unit = currency !== "" ? currency : (MONEY_WORDS[word] ?? (NO_UNIT.has(word) ? "" : word));
    const clause =
      sentence
        .slice(0, start)
        .split(/[,;]| and | but /)
        .at(-1) ?? "";
    const isOut = GOES.test(clause) || GOES_AFTER.test(rest.split(/[,;.]| and /)[0] ?? "");
    return [{ value, unit, sign: isOut ? -1 : 1 }];
  });
}

const QUANTITY = new RegExp(
  `(?<![\\w:/.-])([£$€]?) ?(${NUMBER_FORM})(?![\\w:/%-])((?: of us| (?!(?:and|or|but|at|on|to|for|in|from|each|with|then|so|is|are|was|were)\\b)[\\p{L}'-]+)?)`,
  "giu",
);
const NO_AMOUNT_BEFORE =
  /\b(?:at|past|to|quarter|half|platform|number|room|age|aged|chapter|page|until|till|by|before|after|turned|turns|am|i'm) $/i;
const NO_AMOUNT_AFTER =
  /^\s*(?:o'clock|[ap]\.?m\b|years?(?: old)?\b|months?\b|weeks?\b|days?\b|hours?\b|minutes?\b|%|percent|per cent|st\b|nd\b|rd\b|th\b|january|february|march|april|may|june|july|august|september|october|november|december)/i;
const GOES =
  /\b(?:spent|spend|gave|give|lent|lend|lost|lose|sold|sell|ate|eat|eaten|used|broke|broken|threw|throw|cancell?ed|minus|less|took out|paid|pay|cost|costs|burnt|burned|dropped|drank|returned|sent back|except|without)\b[^,;]*$/i;
const GOES_AFTER =
  /\b(?:have |has |had |are |is |were |was |got |just )?(?:broke|broken|cancell?ed|can't (?:come|make it)|cannot come|dropped out|gone|went (?:off|bad|missing)|left|were eaten|burnt|got lost|died)\b/i;
const MONEY = /^[£$€]$/;
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
  "of more left away already now altogether that which who we i they he she it again extra yesterday today there here gone went broke were just only off this".split(
    " ",
  ),
);
const CORRECTS = /\b(?:i mean|i meant|make (?:that|it)|scratch that|no wait|actually|sorry, (?:not|i))\b/i;

function spoken(lead: string, value: number, unit: string, tail: string): string | null {
  if (!isSayable(value)) return null;
  return `${lead} ${withUnit(value, unit)}${tail === "" ? "" : ` ${tail}`}.`;
}

function withUnit(value: number, unit: string): string {
  const exact = rounded(value);
  const about = Math.abs(exact - value) > 1e-9 * Math.abs(value) ? "about " : "";
  if (MONEY.test(unit)) {
    const cents = Number.isInteger(Math.round(value * 100) / 100) ? 0 : 2;
    const money = Math.abs(value).toLocaleString("en-US", {
      minimumFractionDigits: cents,
      maximumFractionDigits: cents,
    });
    const near = Math.abs(Math.round(value * 100) / 100 - value) > 1e-9 ? "about " : "";
    return `${near}${value < 0 ? "minus " : ""}${unit}${money}`;
  }
  const noun = exact === 1 && /[^s]s$/.test(unit) ? unit.slice(0, -1) : unit;
  return `${about}${figures(exact)}${noun === "" ? "" : ` ${noun}`}`;
}

const LEAD_IN =
  /^(?:(?:and|so|ok|okay|now|then|right|well|hm+|great|thanks|cool|nice|good|please|can you|could you|but|wait|what if you|go on,?|alright)\b[,:!. ]*)+/;
const LEAD_OUT = /(?:,? (?:please|then|now|for me|again|though|do you know|roughly))+$/;
const MAX_CHARS = 120;
/** Of whoever asks, from the last. */
const MAX_TURNS = 6;
