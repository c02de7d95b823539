import { sentencesIn } from "../../heard/sentences.ts";
import { NUMBER_FORM, numberIn } from "../../heard/spoken-number.ts";

/**
 * Works out a time of day from one that was told and how long something takes: when a film ends, when to begin cooking.
 * By a clock of twelve hours, as people speak. `null` unless just one time and one duration were told.
 */
export function clockSum(asked: string, theirs: readonly string[]): string | null {
  const isEnd = ASKS_END.test(asked) && !ASKS_TO_BEGIN.test(asked);
  if (isEnd === ASKS_BEGIN.test(asked)) return null;
  const sentences = theirs.flatMap((turn) => sentencesIn(turn));
  const times = sentences.flatMap((sentence) => timesIn(sentence));
  const durations = sentences.flatMap((sentence) => durationsIn(sentence));
  const [time, duration] = [times[0], durations[0]];
  if (time === undefined || duration === undefined || times.length !== 1 || durations.length !== 1)
    return null;
  const minutes = (((isEnd ? time + duration : time - duration) % HALF_DAY) + HALF_DAY) % HALF_DAY;
  const hour = Math.floor(minutes / 60) || 12;
  const rest = Math.round(minutes % 60);
  return `That would be ${rest === 0 ? `${hour} o'clock` : `${hour}:${String(rest).padStart(2, "0")}`}.`;
}

const ASKS_END =
  /^(?:when|what time)\b.*\b(?:end|ends|finish(?:es)?|over|done|ready|arrive|land|get in|home|there|back|out)\b/;
const ASKS_BEGIN = /^(?:when|what time)\b.*\b(?:start|begin|leave|set off|get going|put (?:it|them) in|go)\b/;
/** "When should I leave to be there on time?" */
const ASKS_TO_BEGIN =
  /\b(?:should|do|must|shall|would|can) (?:i|we|you|they|he|she)(?: have to| need to)? (?:start|begin|leave|set off|get going|put|go)\b/;
const HALF_DAY = 12 * 60;

/** Minutes after midnight or noon. */
function timesIn(sentence: string): number[] {
  return [...sentence.matchAll(TIME)].flatMap((match) => {
    const { half, quarter, count, past, hour = "", minutes = "0" } = match.groups ?? {};
    const whole = numberIn(hour.toLowerCase());
    if (whole === null || whole > 24) return [];
    const beside =
      quarter !== undefined ? 15 : count !== undefined ? (numberIn(count.toLowerCase()) ?? 0) : 0;
    const offset = half
      ? 30
      : beside > 0
        ? past?.toLowerCase() === "to"
          ? -beside
          : beside
        : Number(minutes);
    return [(whole % 12) * 60 + offset];
  });
}

/** Minutes. */
function durationsIn(sentence: string): number[] {
  return [...sentence.matchAll(DURATION)].flatMap(([, count = "", unit = "", half, further]) => {
    const text = count.toLowerCase();
    const value = /^an?$/.test(text)
      ? 1
      : text === "half an"
        ? 0.5
        : numberIn(text.replace(/ and a half$/, ""));
    if (value === null) return [];
    const halves = / and a half$/.test(text) || half !== undefined ? 0.5 : 0;
    const more = further === undefined ? 0 : (numberIn(further.toLowerCase()) ?? 0);
    return [/^h/i.test(unit) ? (value + halves) * 60 + more : value];
  });
}

const MINUTES = "five|ten|twenty|twenty-five|twenty five|\\d{1,2}";
const HOUR = "(?<hour>\\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)";
const TIME = new RegExp(
  `\\b(?:at|from|by|till|until|for|is|it's|to|around|about)(?: about| around)? (?:(?<half>half past )|(?:(?<quarter>(?:a )?quarter)|(?<count>${MINUTES})(?: minutes)?) (?<past>past|to) )?${HOUR}(?:[:.](?<minutes>[0-5]\\d))?(?= o'clock| ?[ap]\\.?m\\b|[,.!?;]|$| (?:and|but|so|with|tonight|today|tomorrow|on|in the|from|for dinner)\\b)`,
  "gi",
);
const DURATION = new RegExp(
  `\\b(half an|an?|${NUMBER_FORM}(?: and a half)?) (hours?|minutes?|mins?)\\b( and a half)?(?: and (${NUMBER_FORM}) min(?:ute)?s?)?`,
  "gi",
);
