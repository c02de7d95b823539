import { sentencesIn } from "./statements.ts";
import { stemsOf } from "./stems.ts";
import { plain } from "./turn-text.ts";

/**
 * What we said ourselves, where that is asked for: the sentence that has all of what it was about, or our last turn.
 * `null` where nothing or several things may be meant.
 *
 * @param ours our turns, oldest first
 * @param isAfterOurs whether the newest turn follows one of ours
 */
export function ourWords(asked: string, ours: readonly string[], isAfterOurs: boolean): string | null {
  const text = plain(asked).replace(/[\s?.!]+$/, "");
  if (text.length > MAX_CHARS) return null;
  if (ONCE_MORE.test(text)) {
    const last = isAfterOurs ? sentencesIn(ours.at(-1) ?? "") : [];
    const told = last.filter((sentence) => !sentence.endsWith("?"));
    const said = told.length > 0 ? told : last;
    return said.length === 0 || said.length > MAX_SENTENCES ? null : `I said: ${said.join(" ")}`;
  }
  const about = SAID.map((form) => form.exec(text)?.[1]).find((words) => words !== undefined);
  if (about === undefined) return null;
  const isName = CALLED.test(about);
  const stems = new Set([...stemsOf(about.replace(CALLED, ""))].filter((stem) => stem.length > 1));
  if (stems.size === 0 && !isName) return null;
  const fitting = ours
    .flatMap((turn) => sentencesIn(turn))
    .filter((sentence) => {
      const words = stemsOf(sentence);
      return (
        !sentence.endsWith("?") &&
        [...stems].every((stem) => words.has(stem)) &&
        (!isName || CALLED.test(sentence))
      );
    });
  const different = [...new Set(fitting)];
  return different.length === 1 ? `I said: ${different[0]}` : null;
}

const ONCE_MORE =
  /^(?:(?:sorry|wait|pardon|excuse me|hang on|oh|hm+)[,.!?]? )*(?:what was that(?: again)?|what did you (?:just )?say(?: just now| again)?|what was that you (?:just )?said|can you (?:please )?(?:say|repeat) that(?: again| once more)?(?: please)?|(?:could|would) you (?:please )?(?:say|repeat) that(?: again| once more)?(?: please)?|please repeat that|repeat that(?: please)?|say (?:that|it) (?:again|once more)(?: please)?)(?:,? please)?$/i;
const SAID: readonly RegExp[] = [
  /^(?:(?:and|so|but|sorry|wait|ok|okay)[,.]? )*(?:what|where|when|who|which(?: \w+)?|how (?:much|many|long|far|old|often)|what time) did you (?:just )?say (?:that )?(?:about )?(.+?)(?: again)?$/i,
];
const CALLED =
  /\b(?:it(?:'s| is| was) called|(?:is|was|are|were)? ?(?:called|named)|(?:its|the) name (?:is|was)|it was called)\b/i;
const MAX_SENTENCES = 3;
const MAX_CHARS = 120;
