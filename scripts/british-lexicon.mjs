// Makes lexicon/british.tsv.br, the British dictionary, of misaki's (Apache-2.0), which its package on PyPI carries:
//
//   pip download --no-deps misaki==0.9.4 && unzip misaki-0.9.4-py3-none-any.whl
//   node scripts/british-lexicon.mjs misaki/data/gb_gold.json
//
// A line a word, sorted by bytes: the word, a tab, its phonemes; or `TAG=phonemes` for each part of speech, with nothing
// behind the sign where the word is spelled.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const [, , source] = process.argv;
if (source === undefined) {
  console.error("Name misaki's gb_gold.json.");
  process.exit(2);
}
const lines = Object.entries(JSON.parse(readFileSync(source, "utf8"))).map(([word, entry]) => {
  if (!/^[\x21-\x7e]+$/.test(word)) throw new Error(`“${word}” is not of ASCII characters alone.`);
  const said =
    typeof entry === "string"
      ? entry
      : Object.entries(entry)
          .map(([tag, phonemes]) => `${tag}=${phonemes ?? ""}`)
          .join(" ");
  return `${word}\t${said}\n`;
});
// Words are ASCII, and a tab is before all of their characters: by code unit is by byte.
const text = Buffer.from(lines.sort((a, b) => (a < b ? -1 : 1)).join(""));
writeFileSync(
  fileURLToPath(new URL("../lexicon/british.tsv.br", import.meta.url)),
  brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  }),
);
