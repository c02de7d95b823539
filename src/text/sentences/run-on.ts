import type { Sentence } from "./sentences.ts";

/**
 * Cuts a sentence that goes on and on before it is read, so that reading never takes longer than some milliseconds: after
 * a comma or another mark inside a sentence, else at a space, else anywhere; not inside a link. A sentence of usual
 * length stays whole.
 */
export function cutRunOn(sentence: Sentence): Sentence[] {
  if (sentence.text.length <= MAX_SENTENCE_CHARS) return [sentence];
  const pieces: Sentence[] = [];
  const end = sentence.from + sentence.text.length;
  let rest = sentence.text;
  while (rest.length > MAX_PIECE_CHARS) {
    const at = cutIn(rest.slice(0, MAX_PIECE_CHARS));
    const from = end - rest.length;
    pieces.push({ text: rest.slice(0, at).trimEnd(), from, endsParagraph: false, goesOn: true });
    rest = rest.slice(at).trimStart();
  }
  return [...pieces, { ...sentence, text: rest, from: end - rest.length }].filter(({ text }) => text !== "");
}

/** Where to cut, in UTF-16 units: at least {@link MIN_PIECE_CHARS} from the start. */
function cutIn(head: string): number {
  const mark = /^.*[,;:—]["”’')\]]*(?=\s)/su.exec(head)?.[0].length ?? 0;
  const at = mark >= MIN_PIECE_CHARS ? mark : head.search(/\s\S*$/u);
  const wanted = at >= MIN_PIECE_CHARS ? at : beforePair(head);
  const link = head.lastIndexOf("[", wanted - 1);
  const isInLink = link >= MIN_PIECE_CHARS && head.indexOf(")", link) < 0;
  return isInLink ? link : wanted;
}

/** All of it, without the first half of a character that is written as two. */
function beforePair(head: string): number {
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length;
}

/** In UTF-16 units, as all of these. Prose hardly has longer ones. */
const MAX_SENTENCE_CHARS = 500;
/** Some 14 s of speech. */
const MAX_PIECE_CHARS = 250;
const MIN_PIECE_CHARS = 80;
