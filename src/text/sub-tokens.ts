import { DIGIT, WORD, WORD_LETTER } from "./characters.ts";

const V = `[${WORD_LETTER}]`;
const D = `[${DIGIT}]`;
const APOSTROPHE = "['‘’]";
const SMALL = "a-zß-öø-ÿ";
const CAPITAL = "A-ZÀ-ÖØ-Þ";

const SUB_TOKEN = new RegExp(
  [
    `^${APOSTROPHE}+`,
    `[${CAPITAL}](?=[${CAPITAL}][${SMALL}])`,
    `(?:^-)?(?:${D}?[,.]?${D})+`,
    "[\\-_]+",
    `${APOSTROPHE}{2,}`,
    `${V}*?(?:${APOSTROPHE}${V})*?[${SMALL}](?=[${CAPITAL}])`,
    `${V}+(?:${APOSTROPHE}${V})*`,
    `[^${WORD}\\-'‘’]`,
    `${APOSTROPHE}+$`,
  ].join("|"),
  "gu",
);
const WHOLE = /^[a-z]+$/;

/** Cuts a token where letters, digits, marks and inner capitals meet: "iPhone" → i Phone, "A113" → A 113. */
export function subTokens(token: string): readonly string[] {
  return WHOLE.test(token) ? [token] : (token.match(SUB_TOKEN) ?? []);
}
