import type { Sentence } from "./sentences.ts";

/**
 * Cuts a sentence that goes on and on before it is read, so that reading never takes longer than some milliseconds: after
 * a comma or another mark inside a sentence, else at a space, else anywhere; not inside a link. A sentence of usual
 * length stays whole.
 */
export function cutRunOn(sentence: Sentence): Sentence[] {
  if (sentence.text.length <= LONGEST_SENTENCE) return [sentence];
  const pieces: Sentence[] = [];
  const end = sentence.from + sentence.text.length;
  let rest = sentence.text;
  while (rest.length > LONGEST_PIECE) {
    const at = cutIn(rest.slice(0, LONGEST_PIECE));
    const from = end - rest.length;
    pieces.push({ text: rest.slice(0, at).trimEnd(), from, endsParagraph: false, goesOn: true });
    rest = rest.slice(at).trimStart();
  }
  return [...pieces, { ...sentence, text: rest, from: end - rest.length }].filter(({ text }) => text !== "");
}

/** Where to cut, in UTF-16 units: at least {@link SHORTEST_PIECE} from the start. */
function cutIn(head: string): number {
  const mark = /^.*[,;:—]["”’')\]]*(?=\s)/su.exec(head)?.[0].length ?? 0;
  const at = mark >= SHORTEST_PIECE ? mark : head.search(/\s\S*$/u);
  const wanted = at >= SHORTEST_PIECE ? at : beforePair(head);
  const link = head.lastIndexOf("[", wanted - 1);
  const isInLink = link >= SHORTEST_PIECE && head.indexOf(")", link) < 0;
  return isInLink ? link : wanted;
}

/** All of it, without the first half of a character that is written as two. */
function beforePair(head: string): number {
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length;
}

/** In UTF-16 units, as all of these. Prose hardly has longer ones. */
const LONGEST_SENTENCE = 500;
/** Some 14 s of speech. */
const LONGEST_PIECE = 250;
const SHORTEST_PIECE = 80;
