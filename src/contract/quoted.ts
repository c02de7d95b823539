/** Most code units of a client's own word that a message repeats. */
const MAX_CHARS = 64;

/** What cannot be seen, or changes how its neighbours are seen: controls, formats such as bidi overrides, separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A name as any field might have it, which needs no quotes. */
const PLAIN = new RegExp(`^[A-Za-z_][\\w.[\\]-]{0,${MAX_CHARS - 1}}$`);

/** A client's own word in quotes, cut short where it is long; what is not to be seen is escaped. */
export function quoted(word: string): string {
  return JSON.stringify(cut(word)).replace(UNSEEN, escaped);
}

/** The name of a field as messages call it: as it is where that is plain, or else quoted, since it is the client's own. */
export function fieldNamed(name: string): string {
  return PLAIN.test(name) ? name : quoted(name);
}

function cut(word: string): string {
  if (word.length <= MAX_CHARS) return word;
  // Not between the halves of one character.
  const end = /[\uD800-\uDBFF]/.test(word.charAt(MAX_CHARS - 1)) ? MAX_CHARS - 1 : MAX_CHARS;
  return `${word.slice(0, end)}…`;
}

/** As JSON escapes it. */
function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
