import { SPACE, WORD } from "./characters.ts";
import type { DifferenceId } from "./differences.ts";
import { type Rewriting, rewriting } from "./rewriting.ts";

const DOMAINS = "com|org|net|edu|gov|io|co|uk|de|fr|info|biz|us|ca|au|tv|me|ly|ai";
/** Endings that are words too, so that a missing space after a full stop makes no address ("tell.me"). */
const ALSO_WORDS = /^[^.]+\.(?:me|us|co|de|ca|au|ly|fr)$/i;
const SAID: ReadonlyMap<string, string> = new Map([
  [".", " dot "],
  ["@", " at "],
  ["/", " slash "],
  ["-", " dash "],
  ["_", " underscore "],
]);

/** Web and mail addresses as one says them: "www.example.com" → "W W W dot example dot com". */
export function addresses(differences: ReadonlySet<DifferenceId>): Rewriting[] {
  if (!differences.has("addresses-said")) return [];
  const pattern = `(?<![${WORD}@/.+\\-])((?:https?|ftp)://)?([${WORD}.+\\-]+@)?((?:[${WORD}\\-]+\\.)+(?:${DOMAINS}))(?![${WORD}])(/[^${SPACE}]*)?`;
  return [
    rewriting(pattern, (match, scheme, user = "", host = "", path = "") => {
      if (scheme === undefined && user === "" && path === "" && ALSO_WORDS.test(host)) return match;
      const end = path.replace(/[.,;:!?"”’')\]]+$/, "");
      const said = Array.from(
        `${user}${host}${end}`.replace(/\/$/, ""),
        (sign) => SAID.get(sign) ?? sign,
      ).join("");
      return said.replace(/^www /i, "W W W ") + path.slice(end.length);
    }),
  ];
}
