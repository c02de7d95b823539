/** Emoji in all their forms, codes of emoji (`:smile:`), and faces made of marks: each becomes `instead`. */
export function withoutPictures(text: string, instead: string): string {
  return text
    .replace(KEYCAPS, instead)
    .replace(PICTURES, instead)
    .replace(CODES, instead)
    .replace(FACES, instead);
}

const KEYCAPS = /[\d#*]\ufe0f?\u20e3/gu;
/** Arrows, degrees, notes' flats and sharps, and what stands for words (©, №) are said, or heard as what they part. */
const PICTURES =
  /(?![\u00a9\u00ae\u2122\u2190-\u21ff])(?:\p{Extended_Pictographic}|\p{Regional_Indicator}|(?![\u00b0\u2100-\u214f\u2117\u266d-\u266f])\p{So})|[\u{1f3fb}-\u{1f3ff}\ufe0e\ufe0f\u20e3]|\u200d/gu;
const CODES = /(?<![\w:]):[a-z][a-z\d_+-]{1,30}:(?![\w:])/gi;
const FACES = /(?<=^|\s)[:;]['-]?[()DP](?=$|[\s.,!?])/g;
