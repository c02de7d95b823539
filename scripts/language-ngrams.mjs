// Writes lexicon/language-ngrams.json.gz from the tables of ELD:
//   npm pack eld@2.1.0 && tar xzf eld-2.1.0.tgz && node scripts/language-ngrams.mjs package
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";

/** Languages of the Latin alphabet between which texts are told apart: ISO 639-1, sorted. */
const LANGUAGES = "cs da de en es fi fr hu it ms nl no pl pt ro sv tr vi".split(" ");
/** ELD subtracts this from every score. */
const BASE_SCORE = 53;

const folder = resolve(process.argv[2] ?? "package");
const { ngramsData } = await import(`${folder}/src/ngrams/extrasmall.js`);
const { dictionary } = await import(`${folder}/src/dictionary.js`);

/** ELD writes each byte from 128 on as a character of its own; bytes that its texts lack share the space. */
const byteOf = new Map(
  Object.entries(dictionary)
    .filter(([byte, character]) => Number(byte) >= 128 && character !== " ")
    .map(([byte, character]) => [character, String.fromCharCode(Number(byte))]),
);

const scores = Object.entries(ngramsData.ngrams).flatMap(([ngram, found]) => {
  const known = Object.entries(found)
    .map(([id, score]) => [LANGUAGES.indexOf(ngramsData.languages[id]), score + BASE_SCORE])
    .filter(([index]) => index >= 0);
  const bytes = Array.from(ngram, (character) => byteOf.get(character) ?? character).join("");
  return known.length === 0
    ? []
    : [[bytes, String.fromCharCode(...known.map(([index, score]) => 512 * index + score))]];
});
const table = JSON.stringify({ languages: LANGUAGES, scores: Object.fromEntries(scores) });
writeFileSync(new URL("../lexicon/language-ngrams.json.gz", import.meta.url), gzipSync(table, { level: 9 }));
