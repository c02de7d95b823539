import { capitalise, wordMap } from "../../characters.ts";
import { digitWords } from "../number-words.ts";
import { after, before, endAfterStop, matchAt, oneOf, spoken, type TokenRule, withRanges } from "../rule.ts";

const STATES = wordMap(
  "AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware,FL Florida," +
    "GA Georgia,HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,ME Maine," +
    "MD Maryland,MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi,MO Missouri,MT Montana,NE Nebraska," +
    "NV Nevada,NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,NC North Carolina,ND North Dakota,OH Ohio," +
    "OK Oklahoma,OR Oregon,PA Pennsylvania,RI Rhode Island,SC South Carolina,SD South Dakota,TN Tennessee,TX Texas," +
    "UT Utah,VT Vermont,VA Virginia,WA Washington,WV West Virginia,WI Wisconsin,WY Wyoming,DC D C",
);
const STATE_AND_ZIP = withRanges(/([A-Z]{2}),? (\d{5})(?:-(\d{4}))?(?![\p{L}\p{N}-])/uy);
const STATE = withRanges(/([A-Z]{2})(?=[.,;:!?)]|$| (?:\p{Ll}|\())/uy);
const ROADS = wordMap(
  "St Street,Dr Drive,Ave Avenue,Blvd Boulevard,Rd Road,Ln Lane,Pkwy Parkway,Hwy Highway",
);
const ROAD = withRanges(/(St|Dr|Ave|Blvd|Rd|Ln|Pkwy|Hwy)(?![\p{L}\p{N}])/uy);
const STREET_NAME = withRanges(
  /(?:\b\d{1,4}(?:st|nd|rd|th)|(?<![.!?] )(?<=[^\n])\b\p{Lu}[\p{L}'.]+|\b(?:\d+|on|at|of|near) (?:[NSEW]\.? ?\p{Lu}\p{L}+|[A-Z])) $/u,
);
/** Words before "St. Mary" or "Dr. King" that are no street names. */
const TITLES = "Mr Mrs Ms Prof Rev Sen Gov Hon Fr Sr";
const NO_STREET_NAMES =
  "The And But In On At To For With When While If Is Was Did Does Has Ask Call See Visit Dear Hi " +
  "Hello Thanks Near From Our My Only Meet Tell So Then Now Yes No Today Monday Tuesday Wednesday " +
  "Thursday Friday Saturday Sunday Say Assistant Professor Saint Doctor";
const NO_STREET = new RegExp(`(?:^|[.!?] |\\b${oneOf(TITLES)}\\.? |\\b${oneOf(NO_STREET_NAMES)} )$`, "u");
/** States that are also words, and need a zip code. */
const ALSO_WORDS = /^(?:OK|OR|IN|ME|HI|OH|MA|PA|LA|ID|AL|DE|CO|MD|MS|MI)$/u;
/** Those that are no degree after a person's name. A place must be expected. */
const NO_DEGREE = /^(?:OR|IN|ME|CO|LA|DE|AL|ID)$/u;
const FIRST = withRanges(/^(?:\p{Lu}[\p{L}.]+ ){0,2}\p{Lu}\p{L}+, $/u);
const GOES_ON = /^(?:[.;,!?)]|$| (?:is|was|has|had|will|are|and|to)\b)/u;
const PLACE = withRanges(
  /(?:\b(?:in|to|from|near|of|at|for|via|leaving|visit|visiting|and|between|around) )(?:\p{Lu}[\p{L}.]+ ){0,2}\p{Lu}\p{L}+, $/u,
);
const ON_A_STREET = withRanges(
  /\b(?:on|onto|down|along|off|up|across) (?:[NSEW]\.? )?(?!Mount|Fort|Lake|Port|Old|New|Downtown|Cape|Bay|Saint)(?:\p{Lu}\p{Ll}+ ){1,2}$/u,
);
const NUMBERED_STREET = withRanges(/(?:\d (?:[NSEW]\.? )?(?:\p{Lu}\p{L}+ ){1,2}|\d(?:st|nd|rd|th) )$/u);
const CITY = withRanges(/\b\p{Lu}\p{L}+, $/u);
const CAPITAL_NEXT = withRanges(/^\.? \p{Lu}/u);
const DIRECTION_NEXT = withRanges(
  /^\.?,? (?:[NS][EW]?|[EW])(?:(?![\p{L}\p{N}.]| \p{Lu}\p{L}+ (?:St|Ave|Rd|Blvd))|\.(?![\p{L}\p{N}]))/u,
);
const SMALL_NEXT = withRanges(/^ \p{Ll}/u);
const DIRECTION = withRanges(
  /(N|S|E|W|NE|NW|SE|SW)\.? (?=\d{1,3}(?:st|nd|rd|th)\b|\p{Lu}\p{L}+(?: \p{Lu}\p{L}+)? (?:St|Ave|Blvd|Rd|Dr|Ln|Street|Avenue|Road|Boulevard|Drive|Lane|Way|Place|Court)\b)/uy,
);
const HEADING = withRanges(/([NS][NS][EW]|[EW][NS][EW]|[NS][EW]?|E|W)(?![\p{L}\p{N}]|\.[\p{L}\p{N}])/uy);
const MOVEMENT =
  "head heads heading headed travel traveling facing winds? moved moving moves drifting blowing gusts?";
const WIND = "wind (?:is|from)|winds (?:are|were|from|will be)";
const DISTANCE = oneOf("miles mi\\.? km kilometers blocks?");
const MOVES = new RegExp(`\\b(?:${oneOf(MOVEMENT)}|${WIND}|(?:from|out of|to) the|${DISTANCE}) $`, "iu");
const HIGHWAY = String.raw`\b(?:(?:I|US|SR|CR)[- ]|[A-Z]{2}-)\d{1,3}|\b(?:Route|Highway|Hwy\.?|Interstate|Rte\.?) \d{1,3}`;
const STREET = oneOf(
  "St(?:reet)? Ave(?:nue)? Blvd Boulevard Rd Road Dr Drive Ln Lane Pl Place Ct Court Pkwy Parkway Way",
);
const STREET_PREFIX = String.raw`(?:[A-Za-z]{2}|\d(?:st|nd|rd|th)|\b[A-Z])`;
const ROAD_BEFORE = new RegExp(`(?:${HIGHWAY}|${STREET_PREFIX} ${STREET}\\.?,?) $`, "u");

const BEFORE_A_NUMBER = withRanges(/(?:Ste|Apt|Rm|Bldg|Hwy|Rte|PO)(?= #?(?:\p{N}|[A-Z]\b|Box))/uy);
const NUMBERED = wordMap("Ste Suite,Apt Apartment,Rm Room,Bldg Building,Hwy Highway,Rte Route,PO P O");

/** "Ste 200", "Apt 4B", "PO Box". */
export const addressPart: TokenRule = (text, at) => {
  const match = matchAt(BEFORE_A_NUMBER, text, at);
  if (match === null || (match[0] === "PO" && !/^ (?:Box|#)/u.test(after(text, at + 2)))) return null;
  return spoken(match, NUMBERED.get(match[0]) ?? "");
};

/** "Chicago, IL 60614". */
export const stateAndZip: TokenRule = (text, at) => {
  const match = matchAt(STATE_AND_ZIP, text, at);
  const state = match === null ? undefined : STATES.get(match[1] ?? "");
  if (match !== null && state !== undefined) {
    const more = match[3] === undefined ? "" : `, ${digitWords(match[3])}`;
    return spoken(match, `${state} ${digitWords(match[2] ?? "")}${more}`);
  }
  const alone = matchAt(STATE, text, at);
  const name = alone === null ? undefined : STATES.get(alone[1] ?? "");
  if (alone === null || name === undefined || !CITY.test(before(text, at))) return null;
  if (ALSO_WORDS.test(alone[0]) && !isPlace(text, at, alone[0])) return null;
  return spoken(alone, name);
};

/** "Elm St. near", "Ash Dr. now", unlike "St. Mary" and "Dr. King". */
export const road: TokenRule = (text, at) => {
  const match = matchAt(ROAD, text, at);
  if (match === null) return null;
  const [written, key = ""] = match;
  const end = at + written.length;
  const rest = after(text, end);
  const earlier = before(text, at);
  const isEither = key === "St" || key === "Dr";
  const hasStop = rest.startsWith(".");
  if (!STREET_NAME.test(earlier) || (isEither && NO_STREET.test(earlier))) return null;
  const hasNumber = NUMBERED_STREET.test(earlier);
  const isSure = hasStop && (hasNumber || ON_A_STREET.test(earlier));
  const hasDirection = DIRECTION_NEXT.test(rest);
  if (isEither && !isSure && !hasDirection && CAPITAL_NEXT.test(rest)) return null;
  if (!hasStop && !hasDirection && !isEither && !SMALL_NEXT.test(rest) && !/^(?:[,;:!?)]|$)/u.test(rest))
    return null;
  return { words: ROADS.get(key) ?? written, end: endAfterStop(text, end) };
};

/** "W 42nd St", "N. Main St.", "I-80 W". */
export const direction: TokenRule = (text, at) => {
  const street = matchAt(DIRECTION, text, at);
  if (street !== null) return spoken(street, `${capitalise(compassPoint(street[1] ?? ""))} `);
  const heading = matchAt(HEADING, text, at);
  if (heading === null) return null;
  const end = at + heading[0].length;
  const rest = after(text, end);
  if (!(ROAD_BEFORE.test(before(text, at)) || MOVES.test(before(text, at)))) return null;
  return {
    words: compassPoint(heading[1] ?? ""),
    end: /^\. \p{Ll}/u.test(rest) ? end + 1 : end,
  };
};

const DIRECTIONS = wordMap(
  "N north,S south,E east,W west,NE northeast,NW northwest,SE southeast,SW southwest," +
    "NNE north-northeast,ENE east-northeast,ESE east-southeast,SSE south-southeast,SSW south-southwest," +
    "WSW west-southwest,WNW west-northwest,NNW north-northwest",
);

/** "SW" → "southwest"; "" if it is no compass point. */
export function compassPoint(letters: string): string {
  return DIRECTIONS.get(letters) ?? "";
}

function isPlace(text: string, at: number, state: string): boolean {
  if (!NO_DEGREE.test(state)) return false;
  const earlier = before(text, at);
  return PLACE.test(earlier) || (FIRST.test(earlier) && GOES_ON.test(after(text, at + state.length)));
}
