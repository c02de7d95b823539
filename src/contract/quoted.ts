/** Most code units of a client's own word that a message repeats. */
const MOST = 64;

/** A client's own word in quotes, cut short where it is long. */
export function quoted(word: string): string {
  return JSON.stringify(word.length > MOST ? `${word.slice(0, MOST)}…` : word);
}
