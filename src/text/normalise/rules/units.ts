import { wordSet } from "../../characters.ts";
import { withRanges } from "../rule.ts";

/** Spellings and singular names of units. A full stop may be part of a spelling. */
const REGULAR =
  "km=kilometer; m=meter; cm=centimeter; mm=millimeter; µm=micrometer; nm=nanometer; mi=mile; " +
  "yd|yds=yard; kg=kilogram; g=gram; mg=milligram; µg|mcg=microgram; lb|lbs=pound; oz=ounce; " +
  "fl oz|fl. oz=fluid ounce; L|l=liter; mL|ml=milliliter; cl=centiliter; dl=deciliter; gal=gallon; " +
  "qt=quart; tbsp|tbsps|Tbsp=tablespoon; c.=cup; tsp|tsps=teaspoon; h|hr|hrs=hour; min|mins=minute; " +
  "s|sec|secs=second; ms=millisecond; µs=microsecond; ns=nanosecond; yr|yrs=year; mo|mos=month; " +
  "wk|wks=week; m²|m2|sq m|sq. m=square meter; km²|km2|sq km=square kilometer; cm²=square centimeter; " +
  "mm²=square millimeter; m³|m3=cubic meter; cm³|cc=cubic centimeter; sq mi|sq. mi=square mile; " +
  "ha=hectare; N·m|Nm=newton meter; kN=kilonewton; bps=basis point; pts=point; kts=knot; " +
  "atm=atmosphere; IU=international unit; bbl=barrel; pcs=piece; KB|kB=kilobyte; MB=megabyte; " +
  "GB=gigabyte; TB=terabyte; PB=petabyte; KiB=kibibyte; MiB=mebibyte; GiB=gibibyte; TiB=tebibyte; " +
  "Mb=megabit; Gb=gigabit; W=watt; mW=milliwatt; kW=kilowatt; MW=megawatt; GW=gigawatt; TW=terawatt; " +
  "Wh=watt hour; kWh=kilowatt hour; MWh=megawatt hour; GWh=gigawatt hour; TWh=terawatt hour; " +
  "Ah=amp hour; mAh=milliamp hour; V=volt; mV=millivolt; kV=kilovolt; A=amp; mA=milliamp; Ω=ohm; " +
  "kΩ=kilohm; dB=decibel; kJ=kilojoule; MJ=megajoule; cal=calorie; kcal=kilocalorie; Pa=pascal; " +
  "hPa=hectopascal; kPa=kilopascal; MPa=megapascal; MP=megapixel; px=pixel; °=degree; " +
  "m/s=meter per second; km/s=kilometer per second; km/h|kmh|kph=kilometer per hour; " +
  "mph|mi/h=mile per hour; mg/kg=milligram per kilogram; mcg/kg=microgram per kilogram; " +
  "g/kg=gram per kilogram; mmol/L=millimole per liter; g/l=gram per liter; mg/l=milligram per liter; " +
  "mg/dl|mg/dL=milligram per deciliter; mpg=mile per gallon; bpm=beat per minute; fps=frame per second; " +
  "kb/s|Kb/s|kbps|Kbps=kilobit per second; kB/s|KB/s=kilobyte per second; " +
  "Mb/s|Mbit/s|Mbps=megabit per second; MB/s=megabyte per second; Gb/s|Gbit/s|Gbps=gigabit per second; " +
  "GB/s=gigabyte per second; dpi=dot per inch; ppm=part per million; ppb=part per billion; " +
  "m/s^2|m/s2|m/s²=meter per second squared; g/cm³=gram per cubic centimeter; " +
  "W/m²=watt per square meter; mmHg=millimeter of mercury; kg/m³=kilogram per cubic meter; " +
  "°C|° C|℃=degree Celsius; °F|° F|℉=degree Fahrenheit";
const IRREGULAR =
  "ft=foot/feet; in.=inch/inches; doz=dozen; ft²|sq ft|sq. ft=square foot/square feet; " +
  "in²|sq in=square inch/square inches; ft³|cu ft|cu. ft=cubic foot/cubic feet; " +
  "ft/s=foot per second/feet per second; rpm=R P M; Hz=hertz; kHz=kilohertz; MHz=megahertz; " +
  "GHz=gigahertz; THz=terahertz; psi=P S I; hp=horsepower; pct|%=percent";

/** Units of measure: spelling → [singular, plural]. */
export const UNITS: ReadonlyMap<string, readonly [one: string, many: string]> = new Map([
  ...unitsIn(REGULAR, (one) => [one, one.replace(/(?= per | of | Celsius| Fahrenheit|$)/u, "s")]),
  ...unitsIn(IRREGULAR, (name) => {
    const [one = "", many = one] = name.split("/");
    return [one, many];
  }),
]);

function unitsIn(list: string, forms: (name: string) => [string, string]): [string, [string, string]][] {
  return list.split("; ").flatMap((unit) => {
    const [spellings = "", name = ""] = unit.split("=");
    return spellings.split("|").map((spelling): [string, [string, string]] => [spelling, forms(name)]);
  });
}

/** Nouns of a rate that are not units: "/day" → "per day". */
const PER: ReadonlyMap<string, string> = new Map([
  ["ea", "each"],
  ["d", "day"],
  ["sq yd", "square yard"],
  ...Array.from(
    wordSet("hour day night week month year mile unit person user seat item page head ticket cup serving"),
    (word) => [word, word] as const,
  ),
]);
const PER_UNITS: ReadonlySet<string> = new Set(
  "bbl,hr,h,min,sec,s,wk,mo,yr,lb,oz,kg,g,gal,l,L,mi,km,m,ft,m²,sq ft,sq in,sq m,sq mi,sq km,cu ft,in²,ft²,kWh,GB".split(
    ",",
  ),
);
const PER_UNIT = withRanges(/^ ?\/ ?((?:sq|cu)\.? (?:ft|in|mi?|km|yd)|[A-Za-z]{1,8}²?)(?![\p{L}\p{N}])/u);

/** Reads "/hr" after an amount as " per hour", else "". */
export function perUnit(text: string, end: number): { readonly words: string; readonly end: number } {
  const match = PER_UNIT.exec(text.slice(end, end + 12));
  const written = (match?.[1] ?? "").replace(".", "");
  const name = PER_UNITS.has(written) ? UNITS.get(written)?.[0] : PER.get(written);
  return match === null || name === undefined
    ? { words: "", end }
    : { words: name === "each" ? " each" : ` per ${name}`, end: end + match[0].length };
}
