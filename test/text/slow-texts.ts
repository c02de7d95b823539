/** Maximum length of a request's text, in UTF-16 code units. */
export const LONGEST = 8000;

/** Openings that rules match without an end. */
const SLOW = [
  ..."1 a A é \" ' ( [ . … $ % # = / - _ ` ½ 日 😀 \ud800".split(" "),
  ..."aB 1. 1, 1- 1: 1/ $1 $1, +1 A1-. a- a. A. a' 's x~ xq@ a, a1 1° -a 1' ](".split(" "),
  ...'U.S. +- a@ a.b@ [a]( ."'.split(" "),
  ..."[]( [a]( [x](/y/ < x< <b> <a &a; ** _a_ ~~ ½ 1½ 10^ 1x 1:1 12:30- 1.1.1.1 1 1,1 /a C:\\a @a #a A.B. '".split(
    " ",
  ),
  "Mr. ",
  "Elm St. ",
  "1 000 ",
  "code 1 ",
  "Mon, ",
  "May 5-",
  "1 x ",
  '1" ',
  "a b c d e f g h i j\n",
  "Act I ",
  "blorp ",
  " ",
  "\n",
  "\n \n",
  "a ",
];

/** Returns texts of maximum length made of one repeated piece. */
export function slowTexts(): [string, string][] {
  return SLOW.map((piece) => [
    piece,
    `x${piece.repeat(Math.ceil(LONGEST / piece.length))}`.slice(0, LONGEST),
  ]);
}
