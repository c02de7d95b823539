import type { Token } from "./tokens.ts";

const DOUBLE: ReadonlySet<string> = new Set(['"', "“", "”", "„", "«", "»"]);
const OPENS_AFTER: ReadonlySet<string> = new Set(["(", "[", "{", "—", "–", "-", "/", "'", "‘"]);

/**
 * Tags for double quotes, which the tagger was never taught: "``" where one opens, "''" where one closes, else
 * nothing. A straight quote opens where a word begins, and closes where one ends.
 */
export function markQuotes(tokens: readonly Token[]): (string | null)[] {
  return tokens.map((token, index) => {
    if (!DOUBLE.has(token.text)) return null;
    if (token.text === "“" || token.text === "„" || token.text === "«") return "``";
    if (token.text === "”" || token.text === "»") return "''";
    const before = tokens[index - 1];
    const begins = before === undefined || before.spaceAfter || OPENS_AFTER.has(before.text);
    return begins && !token.spaceAfter ? "``" : "''";
  });
}
