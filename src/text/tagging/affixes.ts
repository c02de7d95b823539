/**
 * What the tokeniser takes off the ends of a run of characters. These are scanners, not regular expressions: they
 * look at the last few characters only, so that long runs of marks cost no more than their length.
 * After spaCy's English tokeniser (MIT).
 */
const MARKS = "…,:;!?¿¡()[]{}<>_#*&。？！，、；：～·";
export const QUOTES = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉";
export const ICONS = "™®©°§¶†‡•";
const MONEY = "$£€¥฿₽₹₩₪₺₴₦₫₱₲₵₸₼₾₿";
const MONEY_LETTERS = ["US$", "C$", "A$"];
const SINGLE_PREFIXES: ReadonlySet<string> = new Set(`§%=—–${MARKS}${QUOTES}${MONEY}${ICONS}`);
const SINGLE_SUFFIXES: ReadonlySet<string> = new Set(`${MARKS}${QUOTES}${ICONS}—–`);
const UNITS: readonly string[] = (
  "km km² km³ m m² m³ dm dm² dm³ cm cm² cm³ mm mm² mm³ ha µm nm yd in ft kg g mg µg t lb oz m/s km/h kmh mph hPa " +
  "Pa mbar mb MB kb KB gb GB tb TB T G M K %"
).split(" ");
const AFTER_DIGIT: readonly string[] = ["+", ...MONEY, ...MONEY_LETTERS, ...UNITS].sort(
  (a, b) => b.length - a.length,
);
/** What a full stop comes off after: digits, small letters, and these. */
const BEFORE_STOP: ReadonlySet<string> = new Set(`%²-+${MARKS}${QUOTES}`);

/** How many code units at the start come off as one token; 0 is none. */
export function prefixLength(text: string, start: number, end: number): number {
  if (start >= end) return 0;
  const first = text.charAt(start);
  if (first === "+") return isAsciiDigit(text, start + 1, end) ? 0 : 1;
  if (first === ".") {
    const dots = runOfDots(text, start, end);
    return dots > 1 ? dots : 0;
  }
  if (SINGLE_PREFIXES.has(first)) return 1;
  for (const sign of MONEY_LETTERS)
    if (start + sign.length <= end && text.startsWith(sign, start)) return sign.length;
  return 0;
}

/** How many code units at the end come off as one token; the longest that fits. What is before `start` is not seen. */
export function suffixLength(text: string, start: number, end: number): number {
  if (start >= end) return 0;
  const last = text.charAt(end - 1);
  const before = end - 2 >= start ? text.charAt(end - 2) : "";
  if (last === ".") {
    let dots = 1;
    while (end - dots > start && text[end - dots - 1] === ".") dots++;
    if (dots > 1) return dots;
    return endsSentence(text, start, end) ? 1 : 0;
  }
  if (last === "…" && before === "…") return 2;
  if ((last === "s" || last === "S") && (before === "'" || before === "’")) return 2;
  for (const unit of AFTER_DIGIT) {
    const at = end - unit.length;
    if (at > start && isAsciiDigit(text, at - 1, end) && text.startsWith(unit, at)) return unit.length;
  }
  return SINGLE_SUFFIXES.has(last) ? 1 : 0;
}

/** Small letters of Western European languages, as the rules for full stops have them. */
function isSmallLatin(character: string): boolean {
  return /^[a-zß-öø-ÿ]$/.test(character);
}

function isCapitalLatin(character: string): boolean {
  return /^[A-ZÀ-ÖØ-Þ]$/.test(character);
}

/** Whether the full stop before `end` is a token of its own. */
function endsSentence(text: string, start: number, end: number): boolean {
  const before = end - 2 >= start ? text.charAt(end - 2) : "";
  if (before === "") return false;
  if (isAsciiDigit(text, end - 2, end) || isSmallLatin(before) || BEFORE_STOP.has(before)) return true;
  const second = end - 3 >= start ? text.charAt(end - 3) : "";
  if (second === "°" && "FfCcKk".includes(before)) return true;
  return isCapitalLatin(before) && isCapitalLatin(second);
}

function runOfDots(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && text[at] === ".") at++;
  return at - start;
}

function isAsciiDigit(text: string, at: number, end: number): boolean {
  if (at < 0 || at >= end) return false;
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}
