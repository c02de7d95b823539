import { characterCount, isSpaceCode } from "../characters.ts";
import { withoutPhonemes } from "../phonemes/given-phonemes.ts";
import { MarkedTextBuilder } from "./marked-text-builder.ts";
import { type FindVoice, type ParsedMarkup, type PauseMark, pauseMarks } from "./markup.ts";
import { parseSsml } from "./parse-ssml.ts";

/**
 * Returns whether a text begins with `<speak>`, possibly after a declaration, comments or a document type (which is
 * rejected later).
 */
export function looksLikeSsml(text: string): boolean {
  let at = /^[\s\ufeff]*/.exec(text)?.[0].length ?? 0;
  for (let parts = 0; parts < MAX_HEAD_PARTS && text[at] === "<"; parts++) {
    const here = text.slice(at, at + 40);
    if (/^<(?:(?:[a-z][\w.-]*:)?speak[\s/>]|!DOCTYPE\s(?!\s*html))/.test(here)) return true;
    const end = here.startsWith("<?xml") ? "?>" : here.startsWith("<!--") ? "-->" : null;
    const next = end === null ? -1 : text.indexOf(end, at);
    if (end === null || next < 0) return false;
    at = next + end.length;
    while (/\s/.test(text[at] ?? "")) at++;
  }
  return false;
}

/** Returns whether more text could make this beginning SSML. */
export function mayBeSsml(beginning: string): boolean {
  return /^[\s\ufeff]*(?:$|<(?:$|[?!]|s$|sp$|spe$|spea$|speak(?:$|[\s/>])))/.test(beginning);
}

/**
 * Parses SSML, or plain text with `[pause:0.8s]`, in linear time.
 *
 * @param isSsml `null` decides by {@link looksLikeSsml}
 * @throws MarkupError that names line and column
 */
export function parseMarkup(text: string, isSsml: boolean | null, findVoice: FindVoice): ParsedMarkup {
  if (isSsml ?? looksLikeSsml(text)) return parseSsml(text, findVoice);
  const pauses = pauseMarks(text);
  if (pauses.length === 0)
    return { piece: text, spokenChars: characterCount(withoutPhonemes(text)), cautions: strayElements(text) };
  const builder = new MarkedTextBuilder(text);
  for (const { from, to, pauseS } of pauses) {
    builder.keep(from);
    const isTight = from > 0 && to < text.length && !isSpace(text, from - 1) && !isSpace(text, to);
    builder.replace(to, "");
    if (isTight) builder.part("space");
    builder.pause(pauseS);
  }
  return {
    piece: builder.end(),
    spokenChars: characterCount(withoutPhonemes(withoutPauses(text, pauses))),
    cautions: strayElements(text),
  };
}

/** Elements of SSML that do something, as they stand in a text that is not SSML. */
const STRAY_ELEMENT = /<(break|prosody|emphasis|phoneme|say-as|sub|voice|mark)\b[^<>]{0,200}>/;

function strayElements(text: string): string[] {
  const element = STRAY_ELEMENT.exec(text)?.[1];
  return element === undefined
    ? []
    : [`<${element}> is ignored: put <speak> and </speak> around the whole text`];
}

function withoutPauses(text: string, pauses: readonly PauseMark[]): string {
  let left = "";
  let at = 0;
  for (const { from, to } of pauses) {
    left += text.slice(at, from);
    at = to;
  }
  return left + text.slice(at);
}

function isSpace(text: string, at: number): boolean {
  return isSpaceCode(text.charCodeAt(at));
}

const MAX_HEAD_PARTS = 8;
