import type { SpeakerLabel, Turn } from "../../../model/conversation.ts";
import { MAX_TURN_CHARS, plain, sentencesIn } from "../../heard/sentences.ts";
import { numberIn } from "../../heard/spoken-number.ts";
import { clockSum } from "./clock-sums.ts";
import {
  type Amount,
  EACH,
  isMoney,
  isPersons,
  pacesIn,
  type Quantity,
  quantitiesIn,
  SOME_MONEY,
  sameThing,
  withUnit,
} from "./quantities.ts";
import { answerSum, isSayable } from "./sums.ts";

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
      ? amountBefore(theirs.at(-2) ?? "", before.text)
      : null;
  return (
    (last === null ? null : goneOn(asked, last)) ?? clockSum(asked, theirs) ?? ofWhatWasTold(asked, theirs)
  );
}

/** The amount that they asked for and we answered with, or that they told: what we only spoke of is none to go on from. */
function amountBefore(theirs: string, ours: string): Amount | null {
  const told = quantitiesIn(theirs);
  const isOurSum =
    told.length > 0 || answerSum(theirs) !== null || /^That(?:'s| leaves| makes| comes)\b/.test(ours);
  const answered = isOurSum ? lastAmount(ours) : null;
  if (answered !== null) return answered;
  const last = lastAmount(theirs);
  return last === null || last.unit === "" ? null : last;
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
    if (result < 0 && unit !== "" && !isMoney(unit)) return null;
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

/** What is left, comes together, falls to each, is still wanted or lasts so long, of what somebody told. */
function ofWhatWasTold(asked: string, theirs: readonly string[]): string | null {
  const form = FORMS.find(([, test]) => test.test(asked))?.[0];
  const asksPace = ASKS_PACE.test(asked);
  if ((form === undefined && !asksPace) || theirs.some((turn) => CORRECTS.test(turn))) return null;
  const sentences = theirs.flatMap((turn) => sentencesIn(turn));
  const pace = asksPace ? atThatPace(asked, sentences) : null;
  if (pace !== null || form === undefined || OVER_TIME.test(asked)) return pace;
  const told = sentences.map((sentence) => ({ sentence, amounts: quantitiesIn(sentence) }));
  if (
    told.some(
      ({ sentence, amounts }) => amounts.length > 0 && DOUBTS.test(sentence.replaceAll(CANNOT_COME, "left")),
    )
  )
    return null;
  const all = oneCurrency(inOrder(told.flatMap(({ amounts }) => amounts)));
  if (all.some(({ isOthers }) => isOthers)) return null;
  const wanted = ASKS_MONEY.test(asked) ? "money" : (COUNTED.exec(asked)?.[1] ?? null);
  const answer = {
    difference,
    each: forEach,
    left: whatIsLeft,
    total: inAll,
    more: stillWanted,
    times: howManyTimes,
  }[form];
  return answer(all, wanted, asked);
}

/** Of a question's form, which sum answers it. */
const FORMS: readonly (readonly [
  form: "difference" | "each" | "left" | "total" | "more" | "times",
  test: RegExp,
])[] = [
  [
    "difference",
    /\bhow much (?:cheaper|dearer|more expensive|less|bigger|longer) (?:is|are|was|were)\b|\bwhat(?:'s| is) the difference\b|\bhow much did (?:it|they|that|(?:the|my) \w+) (?:go|rise|drop|fall|increase|come)\b|\bhow much (?:older|younger) (?:is|am|are)\b/,
  ],
  ["each", /\b(?:each|per (?:person|head)|a head|apiece|my share|split(?: (?:it|that))?(?: between us)?$)/],
  [
    "more",
    /\bhow (?:many|much) more\b(?!.*\b(?:weeks?|months?|days?)\b)|\bhow (?:many|much) (?:am i|are we|is) (?:missing|short)\b|\bhow (?:many|much) (?:do|have) (?:i|we) (?:still )?(?:got )?(?:need|to go)\b/,
  ],
  ["times", /\bhow (?:many (?:more )?(?:days|nights|weeks|months|years|trips|packs|boxes)|long)\b/],
  [
    "left",
    /^(?:so )?how (?:many|much)\b.*\b(?:left|remain\w*|over|still (?:have|got|need|to go))\b|^how many (?:\w+ )?(?:do|have) (?:i|we) (?:have|got)(?: got)?$|^what(?:'s| is| does that)\b.*\b(?:left|leave)\b/,
  ],
  [
    "total",
    /\b(?:altogether|all together|in total|in all|the total|total up to|all in|come to)\b|^(?:what|how much)(?:'s| is|s)? (?:does )?(?:that|it) (?:come|comes|make|makes)\b|^how (?:many|much) (?:\w+ )?(?:is|are) (?:that|those|they|it)$/,
  ],
];
const ASKS_MONEY = /\bmoney\b|\bhow much\b|\bcost|\bpay\b|\bspen[dt]\b|\bmy share\b|\brent\b/;
const COUNTED = /\bhow many (?:more )?([a-z]{3,})\b(?! (?:is|are|do|have|will|left|altogether)\b)?/;

/** Each that has no verb of its own goes the way of the one before it: "I spent ten on Monday and five on Tuesday." */
function inOrder(amounts: readonly Quantity[]): Quantity[] {
  const all: Quantity[] = [];
  for (const one of amounts) {
    const sign = one.isBare ? (all.at(-1)?.sign ?? one.sign) : one.sign;
    all.push(isPersons(one.unit) ? one : { ...one, sign });
  }
  return all;
}

/** Says that an amount does not hold, is not exact, or comes more than once. */
const DOUBTS =
  /\b(?:not|cannot|nearly|almost|if|maybe|might|would|could|perhaps|between|or|instead|twice|thrice|times|after all|about|roughly)\b|n't\b/i;
const CANNOT_COME = /\b(?:can't|cannot) (?:come|make it)\b/gi;
/** Asks for what comes of it by and by. */
const OVER_TIME =
  /\b(?:in|per|for|over) (?:a|an|the|one|each|every) (?:whole )?(?:day|week|month|year)\b|\ba (?:week|month|year)$/;

/** A price where no coin is named is of the one that is named elsewhere, and beside prices a bare number is one. */
function oneCurrency(told: readonly Quantity[]): Quantity[] {
  const isPriced =
    told.some(({ unit }) => isMoney(unit)) && told.every(({ unit }) => isMoney(unit) || unit === "");
  const all = isPriced ? told.map((one) => (one.unit === "" ? { ...one, unit: SOME_MONEY } : one)) : told;
  const coins = new Set(all.flatMap(({ unit }) => (isMoney(unit) && unit !== SOME_MONEY ? [unit] : [])));
  const [coin] = coins;
  return coin !== undefined && coins.size === 1
    ? all.map((one) => (one.unit === SOME_MONEY ? { ...one, unit: coin } : one))
    : [...all];
}

/** Of two of the same, how far they are apart. */
function difference(all: readonly Quantity[]): string | null {
  const one = ofOneUnit(all, null) ?? ofOneUnit(all, "money");
  const [first, second] = one?.amounts ?? [];
  if (one === null || first === undefined || second === undefined || one.amounts.length !== 2) return null;
  return all.length === 2 ? spoken("That's", Math.abs(first.value - second.value), one.unit, "") : null;
}

function forEach(all: readonly Quantity[]): string | null {
  const heads = all.filter(({ unit, per }) => isPersons(unit) && per === null);
  const things = all.filter(({ unit }) => !isPersons(unit));
  const count = heads.length === 1 ? (heads[0]?.value ?? 0) : 0;
  const total = ofOneUnit(things, null);
  if (count <= 0 || total === null || things.some(({ per }) => per !== null)) return null;
  const [only] = total.amounts;
  // Of several it is not plain which are shared.
  if (only === undefined || total.amounts.length > 1 || (!isMoney(total.unit) && !/s$|^$/.test(total.unit)))
    return null;
  return spoken("That's", only.value / count, total.unit, "each");
}

function whatIsLeft(all: readonly Quantity[], wanted: string | null): string | null {
  const out = all.filter(({ of }) => of !== null);
  const [part] = out;
  if (part !== undefined && part.of !== null && all.length === 1)
    return part.of < part.value ? null : spoken("That leaves", part.of - part.value, part.unit, "");
  const one = ofOneUnit(all, wanted);
  if (one === null || one.amounts.length < 2 || one.amounts.some(({ per }) => per !== null)) return null;
  const first = one.amounts.find(({ sign }) => sign > 0);
  const rest = one.amounts.filter((other) => other !== first);
  // Rent may be told before what is earned; two that stay are one after the other, or two things.
  if (first === undefined || rest.every(({ sign }) => sign > 0)) return null;
  // What is had is told twice, perhaps.
  if (one.amounts.filter(({ sign, role }) => sign > 0 && role === "had").length > 1) return null;
  const left = rest.reduce((sum, { value, sign }) => sum + sign * value, first.value);
  return left < 0 ? null : spoken("That leaves", left, one.unit, "");
}

function inAll(all: readonly Quantity[], wanted: string | null): string | null {
  const [rate, ...others] = all.filter(({ per }) => per !== null);
  if (rate !== undefined) {
    const [count, ...more] = all.filter((one) => one.per === null && !isMoney(one.unit));
    const fees = all.filter((one) => one.per === null && isMoney(one.unit));
    // "12 euros a ticket, five people": one price, and how often it is paid.
    const isOnce = others.length === 0 && count !== undefined && more.length === 0 && !isMoney(count.unit);
    const fits =
      isOnce &&
      (isPersons(count.unit)
        ? rate.per === EACH ||
          isPersons(rate.per ?? "") ||
          (isMoney(rate.unit) && !PERIODS.test(rate.per ?? ""))
        : rate.per === EACH || sameThing(rate.per ?? "", count.unit));
    // A fee that is paid once comes on top.
    if (
      !fits ||
      fees.some(({ unit, sign, role }) => sign < 0 || role === "had" || !isSameUnit(unit, rate.unit || unit))
    )
      return null;
    const total = fees.reduce((sum, { value }) => sum + value, rate.value * count.value);
    return spoken("That's", total, rate.unit || (fees[0]?.unit ?? ""), "altogether");
  }
  const one = ofOneUnit(all, wanted);
  if (one === null || one.amounts.length < 2) return null;
  if (one.amounts.some(({ sign }) => sign !== one.amounts[0]?.sign)) return null;
  const total = one.amounts.reduce((sum, { value }) => sum + value, 0);
  return spoken("That's", total, one.unit, "altogether");
}

/** What is had, and what is wanted of the same. */
function stillWanted(all: readonly Quantity[]): string | null {
  const had = all.filter(({ role, per }) => role === "had" && per === null);
  const goal = all.filter(({ role, per }) => role === "goal" && per === null);
  const [have, want] = [had[0], goal[0]];
  if (have === undefined || want === undefined || had.length + goal.length !== 2 || all.length !== 2)
    return null;
  if (have.unit !== "" && want.unit !== "" && !isSameUnit(have.unit, want.unit)) return null;
  const more = want.value - have.value;
  return more <= 0 ? null : spoken("That's", more, want.unit || have.unit, "more");
}

/** How often a part goes into what is wanted: pages a day into a book, savings a week into a price. */
function howManyTimes(all: readonly Quantity[], _wanted: string | null, asked: string): string | null {
  const rates = all.filter(({ per }) => per !== null && PERIODS.test(per));
  const [rate] = rates;
  if (rate === undefined || rate.per === null || rates.length !== 1 || rate.value <= 0) return null;
  const period = rate.per;
  if (!/\bhow long\b/.test(asked) && !sameThing(asked.match(/how many (?:more )?(\w+)/)?.[1] ?? "", period))
    return null;
  const rest = all.filter((one) => one !== rate);
  if (rest.some(({ unit }) => unit !== "" && rate.unit !== "" && !isSameUnit(unit, rate.unit))) return null;
  const goal = rest.filter(({ role }) => role !== "had");
  const had = rest.filter(({ role }) => role === "had");
  if (goal.length !== 1 || had.length > 1) return null;
  const times = ((goal[0]?.value ?? 0) - (had[0]?.value ?? 0)) / rate.value;
  if (!(times > 0)) return null;
  const whole = Math.ceil(times - 1e-9);
  return spoken("That's", whole, whole === 1 ? period : `${period}s`, "");
}

const PERIODS = /^(?:day|night|week|month|year|hour|minute)$/;

/** Five kilometres in thirty minutes: how long ten take. */
function atThatPace(asked: string, sentences: readonly string[]): string | null {
  const paces = sentences.flatMap((sentence) => pacesIn(sentence));
  const [pace] = paces;
  const words = asked.split(/[ ,]+/);
  const numbers = words.filter((word) => numberIn(word) !== null);
  const [number = ""] = numbers;
  const value = numberIn(number);
  if (pace === undefined || paces.length !== 1 || numbers.length !== 1 || value === null) return null;
  // Ten of something else take another time.
  const noun = words[words.indexOf(number) + 1] ?? "";
  const isOfThat = NO_NOUN.test(noun) || sameThing(noun, pace.amount.unit);
  if (!isOfThat || pace.amount.value <= 0) return null;
  return spoken("That's", (value * pace.time.value) / pace.amount.value, pace.time.unit, "");
}

const ASKS_PACE = /\b(?:at (?:that|this|the same) (?:speed|pace|rate)|how long (?:for|would))\b/;
const NO_NOUN = /^(?:at|be|take|then|of|more)?$/;

function isSameUnit(one: string, other: string): boolean {
  return (
    one === other ||
    (isMoney(one) && isMoney(other) && (one === SOME_MONEY || other === SOME_MONEY)) ||
    sameThing(one, other)
  );
}

/** Those of the unit that is wanted, where all of them are of one. */
function ofOneUnit(
  all: readonly Quantity[],
  wanted: string | null,
): { readonly amounts: readonly Quantity[]; readonly unit: string } | null {
  const money = all.filter(({ unit }) => isMoney(unit) || (unit === "" && wanted === "money"));
  if (wanted === "money" || (wanted === null && money.length === all.length)) {
    const units = new Set(money.map(({ unit }) => (unit === "" ? SOME_MONEY : unit)));
    const [unit] = units;
    return unit !== undefined && units.size === 1 ? { amounts: money, unit } : null;
  }
  if (money.length > 0) return null;
  const named = all.find(({ unit }) => unit !== "");
  if (named === undefined) return null;
  // "Forty chairs, and we lent twelve": what has no word of its own is of the same.
  const alike = all.every(({ unit }) => unit === "" || sameThing(unit, named.unit));
  const isWanted = wanted === null || sameThing(wanted, named.unit) || OPEN_COUNT.test(wanted);
  return alike && isWanted ? { amounts: all, unit: named.unit } : null;
}

const OPEN_COUNT = /^(?:are|is|do|have|will|left|of|did|does|would|can)$/;
const CORRECTS =
  /^no[,.]? |\bno, (?:\d|\p{L}+ty\b)|\b(?:i mean|i meant|make (?:that|it)|scratch that|no wait|actually|sorry, (?:not|i))\b/iu;

function spoken(lead: string, value: number, unit: string, tail: string): string | null {
  if (!isSayable(value)) return null;
  return `${lead} ${withUnit(value, unit)}${tail === "" ? "" : ` ${tail}`}.`;
}

const LEAD_IN =
  /^(?:(?:and|so|ok|okay|now|then|right|well|hm+|great|thanks|cool|nice|good|please|can you|could you|but|wait|what if you|go on,?|alright)\b[,:!. ]*)+/;
const LEAD_OUT = /(?:,? (?:please|then|now|for me|again|though|do you know|roughly))+$/;
const MAX_CHARS = 120;
/** Of whoever asks, from the last. */
const MAX_TURNS = 6;
