/**
 * What may be said of a sentence that a language model wrote: no markup, stage directions, pictures or labels, and no
 * "as an AI". Empty when nothing is left, or when it gives an address or a long number (of telephones, accounts) that
 * nobody in the conversation has said: such are made up.
 */
export function plainSpeech(sentence: string, heard: string): string {
  if (ADDRESS.test(sentence) || givesNewNumber(sentence, heard)) return "";
  let text = sentence
    .replace(CODE_FENCE, " ")
    .replace(LINK, "$1")
    .replace(BRACKETED, " ")
    .replace(DIRECTION_IN_PARENTHESES, " ")
    .replace(STARRED, (_whole, stars: string, inside: string, offset: number) =>
      stars.length === 1 && isDirection(inside, sentence, offset) ? " " : inside,
    )
    .replace(LIST_MARK, "")
    .replace(LABEL, "")
    .replace(PICTURES, " ")
    .replace(MARKUP, " ")
    .replace(/\s+/g, " ")
    .replace(/ ([.,!?;:])/g, "$1")
    .trim();
  const opened = text.replace(AS_AN_AI, "").trim();
  if (opened !== text) text = opened.charAt(0).toUpperCase() + opened.slice(1);
  return /[\p{L}\p{N}]/u.test(text) ? text : "";
}

const ADDRESS = /https?:|www\.|\b[\w.+-]+@[\w-]+\.\w|\b[\w-]+\.(?:com|org|net|io|gov|edu)\b/i;
const LONG_NUMBER = /\+?\d[\d\s().-]{5,}\d/g;
const LINK = /!?\[([^\]]*)\]\([^)]*\)/g;
const CODE_FENCE = /```\w*/g;
const BRACKETED = /\[[^\]]{0,80}\]|<[^>]{0,80}>/g;
const DIRECTION_IN_PARENTHESES = /\((?:\w+ly )?\w{2,}(?:s|ing)(?: [\w']+){0,3}\)/gi;
const STARRED = /(\*{1,3})([^*\n]{1,80})\1/g;
const LIST_MARK = /^\s*(?:[-*•+]|\d{1,2}[.)])\s+/;
const LABEL = /^\s*(?:assistant|speaker \w{1,8}|bot|ai|me)\s*:\s*/i;
const MARKUP = /[*#_`~^|\\{}[\]<>]/g;
const PICTURES =
  /[\p{Extended_Pictographic}\p{So}\p{Regional_Indicator}]|[\u{1f3fb}-\u{1f3ff}]|\u200d|\ufe0f|\u20e3/gu;
const AS_AN_AI =
  /\b(?:as|being) an? (?:ai|artificial intelligence|(?:large )?language model|virtual assistant|chatbot)\b[^,.!?]{0,40}, ?/i;

/** A starred phrase is an action and not a stress when nothing of the sentence surrounds it, or more than a word is. */
function isDirection(inside: string, sentence: string, offset: number): boolean {
  if (inside.includes(" ")) return true;
  const before = sentence.slice(0, offset).trimEnd();
  return before === "" || /[.!?…]["'”’]?$/.test(before);
}

function givesNewNumber(sentence: string, heard: string): boolean {
  const digitsHeard = digitsOf(heard);
  return (sentence.match(LONG_NUMBER) ?? []).some((number) => {
    const digits = digitsOf(number);
    return digits.length >= 7 && !digitsHeard.includes(digits);
  });
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, "");
}
