import { wordMap, wordSet } from "../../characters.ts";
import { cardinalWords } from "../number-words.ts";
import { type Spoken, withRanges } from "../rule.ts";

const PREFIXES = wordMap(
  "p pico,n nano,µ micro,μ micro,m milli,c centi,d deci,h hecto,k kilo,K kilo,M mega,G giga,T tera,P peta",
);
/**
 * Spellings, singular name, plural if irregular, prefixes. A full stop may be part of a spelling. `^` marks lengths,
 * which have squares and cubes; `-` marks units that are ambiguous without a prefix.
 */
const TABLE =
  "m=meter:^nµμmcdk; mi=mile:^; yd|yds=yard:^; ft=foot/feet:^; in.|in=inch/inches:^; g=gram:nµμmk; mcg=microgram; " +
  "t=tonne; lb|lbs=pound; oz=ounce; fl oz|fl. oz=fluid ounce; L|l=liter:nµμmcdhM; gal=gallon; qt=quart; " +
  "tbsp|tbsps|Tbsp=tablespoon; c.=cup; tsp|tsps=teaspoon; d=day; h|hr|hrs=hour; min|mins=minute; s=second:pnµμm; " +
  "sec|secs=second; yr|yrs=year; mo|mos=month; wk|wks=week; cc=cubic centimeter; ha=hectare; N·m|Nm=newton meter; " +
  "N=newton:mk; bps=basis point; pts=point; kt|kts|kn=knot; atm=atmosphere; IU=international unit; bbl=barrel; " +
  "pcs=piece; B=byte:-kKMGTP; KiB=kibibyte; MiB=mebibyte; GiB=gibibyte; TiB=tebibyte; b|bit=bit:-kKMGT; " +
  "kbps|Kbps=kilobit per second; Mbps=megabit per second; Gbps=gigabit per second; W=watt:nµμmkMGT; " +
  "Wp=watt peak/watts peak:-kMG; Wh=watt hour:mkMGT; A=amp:pnµμmk; Ah=amp hour:mk; V=volt:nµμmkM; VA=volt amp:-kM; " +
  "Ω=ohm:m; kΩ=kilohm; MΩ=megohm; F=farad:-pnµμm; H=henry:-nµμm; T=tesla:-nµμm; S=siemens/siemens:-µμm; dB=decibel; J=joule:µμmkMGT; " +
  "cal=calorie:k; eV=electron volt:mkMGT; Pa=pascal:µμmhkMG; bar=bar:mkM; MP=megapixel; px=pixel; °=degree; " +
  "kph|kmh=kilometer per hour; mph=mile per hour; mpg=mile per gallon; bpm=beat per minute; fps=frame per second; " +
  "dpi=dot per inch; ppm=part per million; ppb=part per billion; mmHg=millimeter of mercury; Torr=torr/torr; " +
  "inHg=inch of mercury/inches of mercury; cmH2O=centimeter of water; lx|lux=lux/lux:k; lm=lumen:k; cd=candela:mk; " +
  "mol=mole:pnµμmk; Bq=becquerel:mkMGT; Gy=gray:nµμmck; Sv=sievert:nµμm; Ci=curie:-pnµμmk; doz=dozen/dozen; " +
  "rpm=R P M/R P M; Hz=hertz/hertz:mkMGT; psi=P S I/P S I; hp=horsepower/horsepower; pct|%=percent/percent; " +
  "°C|° C|℃=degree Celsius; °F|° F|℉=degree Fahrenheit";
type Forms = readonly [one: string, many: string];
/** How to write an area or a volume, where `*` is the length. */
const POWERS = [
  ["square", "*²|*2|*^2|sq *|sq. *"],
  ["cubic", "*³|*3|*^3|cu *|cu. *"],
] as const;

/** Units of measure: spelling → [singular, plural]. */
export const UNITS: ReadonlyMap<string, Forms> = new Map(TABLE.split("; ").flatMap(unitsIn));

/** Returns the spellings that an entry of the table stands for, with their names. */
function unitsIn(entry: string): [string, Forms][] {
  const [, spellings = "", names = "", options = ""] = /^(.+?)=([^:]+):?(.*)$/u.exec(entry) ?? [];
  const [one = "", many = one.replace(/(?= per | of | Celsius| Fahrenheit|$)/u, "s")] = names.split("/");
  const units: [string, Forms][] = [];
  for (const spelling of spellings.split("|")) {
    if (!options.startsWith("-")) units.push([spelling, [one, many]]);
    for (const [prefix, name] of PREFIXES)
      if (options.includes(prefix)) units.push([prefix + spelling, [name + one, name + many]]);
  }
  if (!options.startsWith("^")) return units;
  for (const [spelling, [length, lengths]] of [...units])
    for (const [power, written] of POWERS)
      for (const way of written.split("|"))
        units.push([way.replace("*", spelling), [`${power} ${length}`, `${power} ${lengths}`]]);
  // "in" alone is a word.
  return units.filter(([spelling]) => spelling !== "in");
}

/** Nouns of a rate that are not units: "/day" → "per day". */
const PER: ReadonlyMap<string, string> = new Map([
  ["ea", "each"],
  ...Array.from(
    wordSet("hour day night week month year mile unit person user seat item page head ticket cup serving"),
    (word) => [word, word] as const,
  ),
]);
/** Names of units that a rate may be per. */
const DIVISOR =
  /(?:second|minute|hour|day|week|month|year|meter|inch|foot|yard|mile|hectare|gram|pound|ounce|liter|gallon|mole|barrel|volt|watt|gigabyte)$/u;
const PER_UNIT = withRanges(
  /^(?: ?\/ ?| per )(?:(1000?|1,000|10|100,000) ?)?((?:sq|cu)\.? [a-z]{1,2}|[A-Za-zµμ]{1,8})(\^?[23]|[²³])?(?![\p{L}\p{N}])/u,
);

/** Returns the words for "/hr", " per m³" or "/100 km" after an amount, such as " per hour"; else "". */
export function perUnit(text: string, end: number, isSecond = false): Spoken {
  const [whole = "", count, unit = "", power = ""] = PER_UNIT.exec(text.slice(end, end + 20)) ?? [];
  const [one, many] = UNITS.get(unit + power) ?? UNITS.get(unit) ?? ["", ""];
  const isDivisor = DIVISOR.test(one) && unit !== "V" && (count === undefined || !one.endsWith("byte"));
  const noun = power === "" ? PER.get(unit) : undefined;
  const name = isDivisor ? (count === undefined ? one : many) : noun;
  if (name === undefined) return { words: "", end };
  if (name === "each") return { words: " each", end: end + whole.length };
  const raised = power === "" || UNITS.has(unit + power) ? "" : /[2²]/u.test(power) ? " squared" : " cubed";
  const words = ` per ${count === undefined ? "" : `${cardinalWords(count)} `}${name}${raised}`;
  if (isSecond) return { words, end: end + whole.length };
  const next = perUnit(text, end + whole.length, true);
  return { words: words + next.words, end: next.end };
}
