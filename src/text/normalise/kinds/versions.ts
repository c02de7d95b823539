import { before, type Kind, matchAt, spoken, withRanges } from "../kind.ts";
import { cardinalWords, digitWords, nameWords } from "../numerals.ts";

const DOTTED = withRanges(
  /([vV]\.? ?)?(\d{1,5}(?:\.\d{1,6}){1,4})(?:[-.]?(alpha|beta|rc|a|b)\.?(\d{1,3})?)?(?::(\d{2,5})|(?<=\d(?:\.\d{1,3}){3})\/(\d{1,2}))?(?![\p{L}\p{N}_]|\.\d)/uy,
);
const LONE = withRanges(/[vV](\d{1,4})(?![\p{L}\p{N}_.])/uy);
/** What has versions. A number with a point after one of these is one. */
const HAS_VERSIONS =
  /\b(?:versions?|release|ver\.?|build|update|firmware|kernel|python|node(?:\.js)?|npm|java|php|ruby|perl|go|golang|rust|swift|kotlin|scala|typescript|react|angular|vue|django|flask|rails|laravel|spring|ios|ipados|macos|watchos|tvos|android|windows|linux|ubuntu|debian|fedora|chrome|chromium|firefox|safari|edge|opera|postgres(?:ql)?|mysql|mariadb|sqlite|redis|mongodb|docker|kubernetes|git|gcc|clang|cmake|bash|numpy|pandas|pytorch|tensorflow|cuda|openssl|nginx|apache|bluetooth|usb|http|tls|gpt|claude|llama|gemini) $/iu;
const NO_NUMBER: ReadonlySet<string> = new Set(["a", "b", "rc"]);

/** "192.168.4.28" → "one ninety two dot …", "v4.20" → "V four point twenty", "Python 3.10", "128.0.3". */
export const version: Kind = (text, at) => {
  const lone = matchAt(LONE, text, at);
  if (lone !== null) return spoken(lone, `V ${cardinalWords(lone[1] ?? "")}`);
  const match = matchAt(DOTTED, text, at);
  if (match === null) return null;
  const [whole, letter, numbers = "", stage, stageNumber, port, prefix] = match;
  const parts = numbers.split(".");
  const end = at + whole.length;
  if (
    parts.length === 4 &&
    letter === undefined &&
    stage === undefined &&
    parts.every((part) => Number(part) < 256)
  )
    return {
      words: `${parts.map(octet).join(" dot ")}${port === undefined ? "" : ` port ${nameWords(port)}`}${prefix === undefined ? "" : ` slash ${cardinalWords(prefix)}`}`,
      end,
    };
  const isVersion = letter !== undefined || parts.length > 2 || HAS_VERSIONS.test(before(text, at));
  if (!isVersion || port !== undefined || prefix !== undefined) return null;
  const said = parts.map(octet).join(" point ");
  const after =
    stage === undefined ? "" : ` ${NO_NUMBER.has(stage) ? stage.toUpperCase().split("").join(" ") : stage}`;
  const counted = stageNumber === undefined ? "" : ` ${cardinalWords(stageNumber)}`;
  return { words: `${letter === undefined ? "" : "V "}${said}${after}${counted}`, end };
};

/** One part: "10" → "ten", "04" → "oh four", "192" → "one ninety two", "0" → "zero". */
function octet(digits: string): string {
  if (digits.length > 1 && digits.startsWith("0")) return digitWords(digits, "oh");
  return digits.length > 3 ? digitWords(digits) : nameWords(digits);
}
