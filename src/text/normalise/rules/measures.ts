import { isAttributive, isInSeries, isNounAfter } from "../number-context.ts";
import { cardinalWords, NUMBER, numberWords } from "../number-words.ts";
import {
  after,
  alternatives,
  before,
  endAfterStop,
  isQuoted,
  matchAt,
  oneOf,
  patternRule,
  type Spoken,
  spoken,
  type TokenRule,
  withRanges,
} from "../rule.ts";
import { compassPoint } from "./places.ts";
import { perUnit, UNITS } from "./units.ts";

const UNIT = alternatives(UNITS.keys());
const AMOUNT = `(?:${NUMBER})`;
/** "6-10 kg", "10 x 12 ft", "5 ± 0.2 mm", "20 µg", "6-ft". */
const MEASURE = withRanges(
  `(${AMOUNT})(?:(%|°)?( ?[-–—] ?| ?[x×] ?| to | ?± ?)(${AMOUNT}))?(?:( ?[x×] ?)(${AMOUNT}))?([- ]?)(${UNIT})(?![\\p{L}\\p{N}_])`,
  "yu",
);
const TIMES = withRanges(`(${AMOUNT}) ?[x×] ?(${AMOUNT})(?: ?[x×] ?(${AMOUNT}))?(?![\\p{L}\\p{N}_^])`, "yu");
/** Units of two or more characters: a letter alone is a word or an initial. */
const LONG_UNIT = withRanges(
  `(?:${alternatives([...UNITS.keys()].filter((key) => /^(?:[a-zA-Zµμ](?:[a-zA-Z]|[²³])|c\.)/u.test(key)))})(?![\\p{L}\\p{N}_])`,
  "yu",
);
/** Units of one letter, where a slash or a power shows that they are units. */
const MARKED_UNIT = /[mgLlWJ](?=\/)|m[²³]/uy;
/** Ends of numbers that no amount in digits matches: "1/2 ", "half a million ", "10^6 ". */
const NUMBER_BEFORE =
  /(?:\d[/⁄]\d{1,2}|\d{1,3} \d{3}|[½⅓⅔¼¾⅛⅜⅝⅞]|\b(?:hundred|thousand|million|billion|trillion|few|several)|\^[-−]?\d{1,3}|[⁰¹²³⁴⁵⁶⁷⁸⁹]) $/u;
const THING_NEXT = /^ (?:clock|format|notation|shift|period|window|delay|timer|timeout|limit|interval)\b/u;
const COMPASS = withRanges(/^ ?([NSEW])(?![\p{L}\p{N}])/u);
const LESS_THAN_ONE = /(?<!\d[ -]?)(?:\d{1,2}[/⁄]\d{1,2}|[½⅓⅔¼¾⅛⅜⅝⅞]) $/u;
const FEET_AND_INCHES = withRanges(/(\d{1,2})['′’] ?(\d{1,2}(?:\.\d)?)(?:["″”]|'')/uy);
const FEET_THEN_INCHES = withRanges(/([3-8])['′’](\d|1[01])(?![\p{L}\p{N}"″”'’])/uy);
const INCHES = /(\d{1,3}(?:\.\d{1,3})?)["″”]/uy;
const FEET = withRanges(/(\d{1,5})(?:′|['’](?:(?![\p{L}\p{N}])|(?=[x×]\d)))/uy);
const FEET_RANGE = withRanges(/(\d{1,3}) ?[-–] ?(\d{1,3})[′'’](?![\p{L}\p{N}])/uy);
const OPEN_QUOTE = /(?:^|[\s(])['‘][^'’]{0,60}$/u;
const FEET_THEN_IN = withRanges(
  /(\d{1,3}) ?(?:ft|feet|foot)\.?,? (\d{1,2}(?:\.\d)?) ?(?:in\b\.?|inch(?:es)?\b)/uy,
);
const INCHES_NEXT = withRanges(
  /^(?:$|[.,;:!?)]|[ -](?!high school)(?:wide|tall|long|high|deep|thick|across|apart|by|x|of|from|and|but|with|or|at|on|above|below)(?!\p{L}))/u,
);
const BY = / ?[x×] ?(?=\.?\d)/uy;
const INCHES_BY_INCHES = withRanges(
  `(${AMOUNT}) ?in\\.? ?[x×] ?(${AMOUNT}) ?in(?:\\b\\.?)(?![\\p{L}\\p{N}])`,
  "uy",
);
/** "wait 30s", "a 30s timeout", unlike "the 30s". */
const WAITING =
  "for after within every takes? took lasts? lasted waits? waited timer timeout sets? holds? rest pause";
const ABOUT = "(?:about|around|only|just|under|over|another|at least|at most|up to|an extra)";
const BEFORE_SECONDS = new RegExp(`\\b${oneOf(WAITING)}(?: (?:to|of|is))?(?: ${ABOUT})? $`, "iu");
const AFTER_SECONDS =
  /^ (?:timeouts?|delays?|videos?|clips?|timers?|countdown|intervals?|ads?|sprints?|later|ago|left|per|each)\b/u;
const INCH_NEXT =
  /^(?:\.?[ -]?(?:wide|tall|long|high|deep|thick|in\b|by\b|x\b|of\b|from\b|apart|across|screen|pipe))/u;

/** "a 5A fuse", "draws 2 A", unlike a seat or a flat. */
const AMPS_NEXT =
  /^[- ](?:fuses?|(?:circuit )?breakers?|plugs?|sockets?|circuits?|outlets?|chargers?|charging|(?:power )?supply|current|adapters?|relays?|switch|load|motor|service|USB|of current)\b/u;
const AMPS_BEFORE =
  /(?:\b(?:draws?|drew|drawing|rated (?:at|for)|pulls?|delivers?|current (?:of|is)|supplies|outputs?|handles?)(?: (?:about|around|up to|over|only|just))?|\d ?V(?:,? (?:and|at)|[/,])?) ?$/u;
const NAMED_BEFORE =
  /\b(?:seats?|gate|row|apartment|apt\.?|unit|suite|ste\.?|room|rm\.?|runways?|exit|flight|bus|route|platform|berth|locker|bay|stand)s? (?:#)?$/iu;
/** Before a letter that is part of a name or an answer: "iPhone 5 s", "1 c, 2 d". */
const LETTERED_BEFORE = withRanges(
  /\b(?:[Tt]ype|[Mm]odel|[Ss]ize|[Ee]xhibit|[Aa]ppendix|[Pp]roblem|[Ff]ormula|iPhone) $|\d ?[abcefijknopqruvwxyz],? (?:\d [a-z],? ){0,9}$/u,
);
/** Roads and geographic coordinates. */
const NO_POWER_BEFORE = /(?:[-\d°]|\b(?:Route|Highway|Hwy\.?|Interstate|US|SR|CR|Exit|exit|[NS],?)) ?$/u;

/** "68 m²", "a 60W bulb", "28 m/s", "84°F", "12 oz. of". */
export const measure: TokenRule = (text, at) => {
  const match = matchAt(MEASURE, text, at);
  if (match === null) return null;
  const [whole, first = "", mark, joint, second, , third, gap = "", written = ""] = match;
  const end = at + whole.length;
  if (!isUnit(match, before(text, at), after(text, end))) return null;
  if (mark !== undefined && (second === undefined || joint === " to ")) return null;
  const forms = UNITS.get(written) ?? [written, written];
  const per = perUnit(text, end);
  const stop = written.endsWith(".") ? end : endAfterStop(text, per.end);
  const isPart = joint === undefined || joint.includes("x") || joint.includes("×");
  const isThing =
    gap === "-" ||
    (isPart && isAttributive(before(text, at)) && isNounAfter(text, stop)) ||
    (/^(?:h|min|s|d)$/u.test(written) && THING_NEXT.test(after(text, end)));
  const isOne = isThing || (joint === undefined && /^1(?:\.0)?$/u.test(first));
  const unit = isOne ? forms[0] : forms[1];
  if (per.end === end && /^\/[(\p{Ll}µ]/u.test(text.slice(end, end + 2))) return null;
  const numbers = [numberWords(first)];
  if (second !== undefined) numbers.push(`${jointWord(joint ?? "")} ${numberWords(second)}`);
  if (third !== undefined) numbers.push(`by ${numberWords(third)}`);
  const compass = written === "°" ? COMPASS.exec(after(text, end)) : null;
  if (compass !== null)
    return {
      words: `${numbers.join(" ")} ${unit} ${compassPoint(compass[1] ?? "")}`,
      end: end + compass[0].length,
    };
  if (per.end > end) return { words: `${numbers.join(" ")} ${unit}${per.words}`, end: per.end };
  return withBy(text, {
    words: `${numbers.join(" ")} ${unit}`,
    end: keepsStop(text, end, written) ? end : stop,
  });
};

const ANGLE = withRanges(
  /(\d{1,3})° ?(\d{1,2})['′’](?: ?(\d{1,2}(?:\.\d{1,2})?)["″”])? ?([NSEW])?(?![\p{L}\p{N}])/uy,
);

/** "51°30'N" → "fifty one degrees thirty minutes north". */
export const angle = patternRule(ANGLE, ([, degrees = "", minutes = "", seconds, point]) => {
  const words = [`${cardinalWords(degrees)} degrees ${cardinalWords(minutes)} minutes`];
  if (seconds !== undefined) words.push(`${numberWords(seconds)} seconds`);
  words.push(compassPoint(point ?? ""));
  return words.join(" ").trim();
});

/** "2x4" → "two by four"; in a sum "times". */
export const byOrTimes: TokenRule = (text, at) => {
  const match = matchAt(TIMES, text, at);
  if (match === null) return null;
  const [whole, first = "", second = "", third] = match;
  const end = at + whole.length;
  const word =
    (!isAttributive(before(text, at)) && /^ ?(?:[=^÷+]|is\b|equals\b)/u.test(after(text, end))) ||
    /[=+−÷×*] ?$/u.test(before(text, at))
      ? "times"
      : "by";
  const rest = third === undefined ? "" : ` ${word} ${numberWords(third)}`;
  return { words: `${numberWords(first)} ${word} ${numberWords(second)}${rest}`, end };
};

/** Heights and screens: 5'10", 24". An open quotation takes precedence. */
export const feetAndInches: TokenRule = (text, at) => {
  const square = matchAt(INCHES_BY_INCHES, text, at);
  if (square !== null)
    return {
      words: `${numberWords(square[1] ?? "")} by ${numberWords(square[2] ?? "")} inches`,
      end: endAfterStop(text, at + square[0].length - (square[0].endsWith(".") ? 1 : 0)),
    };
  const written = matchAt(FEET_THEN_IN, text, at);
  if (written !== null) {
    const end = at + written[0].length - (written[0].endsWith(".") ? 1 : 0);
    const isThing = isAttributive(before(text, at)) && isNounAfter(text, end);
    const [, feet = "", inches = ""] = written;
    const sure =
      written[0].includes("inch") || written[0].endsWith(".") || INCHES_NEXT.test(after(text, end));
    if (sure || isThing)
      return {
        words: `${cardinalWords(feet)} ${isThing || feet === "1" ? "foot" : "feet"} ${numberWords(inches)} ${isThing || inches === "1" ? "inch" : "inches"}`,
        end: endAfterStop(text, end),
      };
  }
  const isOpen = OPEN_QUOTE.test(before(text, at));
  const both = matchAt(FEET_AND_INCHES, text, at) ?? (isOpen ? null : matchAt(FEET_THEN_INCHES, text, at));
  if (both !== null)
    return spoken(both, `${cardinalWords(both[1] ?? "")} foot ${numberWords(both[2] ?? "")}`);
  const range = matchAt(FEET_RANGE, text, at);
  if (range !== null && (range[0].endsWith("′") || !isOpen))
    return spoken(
      range,
      `${cardinalWords(range[1] ?? "")} to ${cardinalWords(range[2] ?? "")} ${isNounAfter(text, at + range[0].length) ? "foot" : "feet"}`,
    );
  const feet = matchAt(FEET, text, at);
  if (feet !== null && (feet[0].endsWith("′") || !isOpen)) {
    const end = at + feet[0].length;
    const isThing = isNounAfter(text, end) && matchAt(BY, text, end) === null;
    return withBy(text, { words: `${cardinalWords(feet[1] ?? "")} ${isThing ? "foot" : "feet"}`, end });
  }
  const inches = matchAt(INCHES, text, at);
  if (inches === null || isQuoted(text, at)) return null;
  const end = at + inches[0].length;
  const by = withBy(text, { words: "", end });
  const isOne =
    inches[1] === "1" || isNounAfter(text, end) || (by.end > end && isAttributive(before(text, at)));
  return { words: `${numberWords(inches[1] ?? "")} ${isOne ? "inch" : "inches"}${by.words}`, end: by.end };
};

function withBy(text: string, spoken: Spoken): Spoken {
  const by = matchAt(BY, text, spoken.end);
  return by === null || isNounAfter(text, spoken.end + by[0].length)
    ? spoken
    : { words: `${spoken.words} by `, end: spoken.end + by[0].length };
}

/** Units that are no word or name, and so need no number: "µg", "kWh", "km²". */
const PLAINLY_A_UNIT = /^[µμ]|^[a-z]{1,2}[A-Z][a-z]$|^[kMGT](?:Wh|Hz)$|^[a-z]{2}[²³]$/u;
/** Numerators of a rate: "m/s" and "kg/m³", unlike "A/C" and "W/L". */
const NUMERATOR = /^(?:[mgLl]|[a-zA-Zµμ]{2,}.?)$/u;
const ONE_BEFORE = /(?:\b(?:per|an?|each|every)|\/) ?$/iu;
const MEASURED_IN = /\b(?:per|in) $/iu;

/** Units after a number in words ("half a million km"), and by themselves ("speed in km/h"). */
export const unitWithoutDigits: TokenRule = (text, at) => {
  const match = matchAt(LONG_UNIT, text, at) ?? matchAt(MARKED_UNIT, text, at);
  const [written = ""] = match ?? [];
  const forms = UNITS.get(written);
  if (match === null || forms === undefined) return null;
  const earlier = before(text, at);
  const end = at + written.length;
  const per = perUnit(text, end);
  const isMeasured = NUMBER_BEFORE.test(earlier);
  const isSpatial = /^ per (?:square|cubic) /u.test(per.words);
  const isRate = per.end > end && (isSpatial || NUMERATOR.test(written)) && !per.words.endsWith(forms[0]);
  const isAlone = PLAINLY_A_UNIT.test(written) || (/[²³]$/u.test(written) && MEASURED_IN.test(earlier));
  if (!(isMeasured || ((isRate || isAlone) && !/[\p{L}\p{N}/-]$/u.test(earlier)))) return null;
  if (per.end === end && text.charAt(end) === "/") return null;
  const isOne = (isMeasured ? LESS_THAN_ONE : ONE_BEFORE).test(earlier);
  return { words: forms[isOne ? 0 : 1] + per.words, end: endAfterStop(text, per.end) };
};

/** Returns whether what was matched as an amount and a unit is one: letters may also name things. */
function isUnit(match: RegExpExecArray, earlier: string, rest: string): boolean {
  const [whole, first = "", , , , , , gap = "", written = ""] = match;
  const touches = gap === "";
  const isBullet = rest.startsWith(")") && !/\([^()]*$/u.test(earlier);
  const isNamed =
    NAMED_BEFORE.test(earlier) ||
    (!touches && (isInSeries(earlier) || LETTERED_BEFORE.test(earlier) || isBullet));
  if (isNamed && (touches ? /^[A-Za-z]$/u : /^[dhlst]$/u).test(written)) return false;
  switch (written) {
    case "s":
      if (gap === " ") return !/\d{3}0$/u.test(first);
      if (!touches) return false;
      // Unlike "the 90s" and "count by 7s".
      return (
        first.includes(".") ||
        (first.length < 4 && (BEFORE_SECONDS.test(earlier) || AFTER_SECONDS.test(rest)))
      );
    case "in.":
      return INCH_NEXT.test(`.${rest}`) || /^\.? ?[a-z]/u.test(rest);
    case "c.":
      return /^(?: (?!(?:and|or|is|the)\b)\p{Ll}|\))/u.test(rest);
    case "d":
    case "t":
      return /^ ?\d{1,2} ?h/u.test(rest) || (gap === " " && !isNounAfter(rest, 0));
    case "J":
    case "N":
      return first.includes(".") || rest.startsWith("/");
    case "A":
      return AMPS_NEXT.test(rest) || AMPS_BEFORE.test(earlier);
    case "W":
      // "draws 1,500 W", unlike "300 W Main St" and "I-80 W".
      return touches || (!/^\.? (?:\p{Lu}|\d)/u.test(rest) && !NO_POWER_BEFORE.test(earlier));
    case "%":
      return gap !== "-" && (whole.includes(" ") || /[-–—]/u.test(whole));
    default:
      return gap !== "-" || written.length > 1;
  }
}

/** Keeps a stop that ends the sentence or does not belong to the unit. */
function keepsStop(text: string, end: number, written: string): boolean {
  if (/^\.(?:[,;:)]|-\p{L})/u.test(after(text, end)) && /^[a-z ]+$/u.test(written)) return false;
  return (
    text.charAt(end) !== "." ||
    !/^\. (?:[a-z\d(]|[A-Z])/u.test(after(text, end)) ||
    (written !== "Tbsp" && /[A-Z²³%°/]/u.test(written))
  );
}

function jointWord(joint: string): string {
  if (joint.includes("x") || joint.includes("×")) return "by";
  return joint.includes("±") ? "plus or minus" : "to";
}
