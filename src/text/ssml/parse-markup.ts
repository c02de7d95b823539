import { PLAIN_MANNER } from "../../core/marked-text.ts";
import { characterCount } from "../characters.ts";
import { withoutPhonemes } from "../phonemes/given-phonemes.ts";
import { MarkedTextBuilder } from "./marked-text-builder.ts";
import {
  type FindVoice,
  foundVoice,
  type ParsedMarkup,
  type PauseMark,
  pauseMarks,
  type VoiceLanguages,
  type VoiceMark,
  voiceMarks,
} from "./markup.ts";
import { parseSsml } from "./parse-ssml.ts";

/**
 * Returns whether a text begins with `<speak>`, possibly after a declaration, comments or a document type (which is
 * rejected later).
 */
export function looksLikeSsml(text: string): boolean {
  let at = /^[\s\ufeff]*/.exec(text)?.[0].length ?? 0;
  for (let parts = 0; parts < MAX_HEAD_PARTS && text[at] === "<"; parts++) {
    const here = text.slice(at, at + 40);
    if (/^<(?:(?:[A-Za-z_][\w.-]*:)?speak[\s/>]|!DOCTYPE\s(?!\s*html))/.test(here)) return true;
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
  return /^[\s\ufeff]*(?:$|<(?:[\w.-]*(?::[speak]{0,5})?$|[?!]|(?:[\w.-]*:)?speak[\s/>]))/.test(beginning);
}

/**
 * Parses SSML, or plain text with `[pause:0.8s]` and `[voice:NAME]`, in linear time.
 *
 * @param isSsml `null` decides by {@link looksLikeSsml}
 * @param findVoice `null` leaves `[voice:NAME]` in plain text as it is
 * @param languages of the voices. Default: English
 * @throws MarkupError that names line and column
 */
export function parseMarkup(
  text: string,
  isSsml: boolean | null,
  findVoice: FindVoice | null,
  languages?: VoiceLanguages,
): ParsedMarkup {
  if (isSsml ?? looksLikeSsml(text)) return parseSsml(text, findVoice ?? (([name = ""]) => name), languages);
  const voices = findVoice === null ? [] : voiceMarks(text);
  const marks = [...pauseMarks(text), ...voices].sort((a, b) => a.from - b.from);
  const spokenChars = characterCount(withoutPhonemes(withoutMarks(text, marks)));
  const cautions = strayElements(text);
  if (marks.length === 0) return { piece: text, spokenChars, cautions };
  const builder = new MarkedTextBuilder(text);
  for (const mark of marks) {
    builder.keep(mark.from);
    builder.replace(mark.to, "");
    builder.part("space");
    if ("pauseS" in mark) builder.pause(mark.pauseS);
    else if (findVoice !== null)
      builder.setRun({ manner: PLAIN_MANNER, voice: foundVoice([mark.name], text, mark.from, findVoice) });
  }
  return { piece: builder.end(), spokenChars, cautions };
}

/** Elements that have an effect in SSML, in a text that is not SSML. */
const STRAY_ELEMENT = /<(break|prosody|emphasis|phoneme|say-as|sub|voice|mark)\b[^<>]{0,200}>/;

function strayElements(text: string): string[] {
  const element = STRAY_ELEMENT.exec(text)?.[1];
  return element === undefined
    ? []
    : [`<${element}> is ignored: put <speak> and </speak> around the whole text`];
}

function withoutMarks(text: string, marks: readonly (PauseMark | VoiceMark)[]): string {
  let left = "";
  let at = 0;
  for (const { from, to } of marks) {
    left += text.slice(at, from);
    at = to;
  }
  return left + text.slice(at);
}

const MAX_HEAD_PARTS = 8;
