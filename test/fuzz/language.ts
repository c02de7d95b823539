import assert from "node:assert/strict";
import { type Language, readSentence } from "../../src/text/languages/language.ts";
import { RewrittenText } from "../../src/text/rewritten-text.ts";
import { bentBytes } from "./bent-bytes.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";

const WORDS = { english: (word: string) => (word.length % 3 === 0 ? "wˈɜɹd" : null), given: () => "a" };
const MARKS = /^[\s;:,.!?—…()"“”¿¡]$/;

/**
 * Fuzzes a language's reader: symbols of its alphabet and marks only, units in order within the text, and sources within
 * what was written.
 *
 * @param pieces fragments that its rules look for
 */
export function languageFuzz(language: Language, pieces: readonly string[]): Fuzzer {
  const symbols = new Set([...language.alphabet.symbols, ..."a"]);
  const make = (random: Random): Uint8Array => {
    const count = Math.floor(random() ** 3 * 120);
    const one = () => pieces[Math.floor(random() * pieces.length)]!;
    const text = Buffer.from(Array.from({ length: count }, one).join(random() < 0.6 ? " " : ""));
    return random() < 0.7 ? text : bentBytes(text, text, random);
  };
  const check = async (input: Uint8Array): Promise<void> => {
    const text = new TextDecoder().decode(input);
    const normalised = language.normalise(RewrittenText.of(text));
    let at = 0;
    for (const { from, to } of language.units(normalised.text, WORDS)) {
      assert.ok(from >= at && to > from, `${from} to ${to} after ${at}`);
      at = to;
    }
    assert.ok(at <= normalised.text.length);
    const { phonemes, sources } = readSentence(language, RewrittenText.of(text), WORDS);
    for (const phoneme of phonemes) assert.ok(symbols.has(phoneme) || MARKS.test(phoneme), `"${phoneme}"`);
    for (let sound = 0; sound < phonemes.replace(/\s/g, "").length; sound += 7) {
      const { from, to } = sources.of(sound, sound + 1);
      assert.ok(from >= 0 && to > from && to <= text.length, `${from} to ${to} of ${text.length}`);
    }
    language.question(text);
    language.choiceAt(text.split(" "));
    for (let mark = text.indexOf("."); mark >= 0; mark = text.indexOf(".", mark + 1))
      language.sentences.continues(text, mark, mark + 2);
  };
  return { run: async (random) => check(make(random)), make, check, async close() {} };
}

export const SPANISH_PIECES = (
  "0 1 21 31 100 1.000 1,5 1.234,56 007 25/12/2024 2024-12-25 1/2 3:05 15:30 h p. a. m. € $ US$ £ % ‰ - – — / + = & @ # . , : ; " +
  "... … ( ) « » ¿ ¡ ? ! km kg m² °C º ª 3.er 2.ª er Sr. Dra. D. p.ej. EE. UU. etc. pág. núm. n.º C/ S.A. siglo XXI VI IV Felipe " +
  "Isabel capítulo OTAN DNI PP ONGs X b pdf mil millones de personas casas año la el a las y o 612 34 56 78 +34 (55) 1234-5678 " +
  "ana@correo.es www.x.es http://a.b/c archivo.pdf güe ü cigüeña cliente mente rápidamente inyección h hu y ll rr x ñ ç á İ ß ﬁ é ٣ ½ " +
  "Ⅳ 日 😀 \ud800 \udc00 \u0000 \u200b \u00a0 \u0301 \ue000 constructor __proto__ \n **a** [b](c) browser click cool"
).split(" ");

export const ITALIAN_PIECES = (
  "0 1 21 23 100 1.000 1,5 1.234,56 007 25/12/2024 2024-12-25 1/2 1/B 3:05 alle 1:15 15.30 '80 € $ £ EUR % ‰ - – — / + = & @ # . , : ; " +
  "... … ( ) « » “ ” ? ! km kg m² °C ° º ª km/h €/kg mq Sig. Dott.ssa Ing. C.so P.zza p. es. S.p.A. a.C. ecc. pag. n. n° CAP 20121 Via " +
  "secolo XXI VI IV I Vittorio Elisabetta capitolo parte NATO DNA PPP X b pdf mln mila milioni di persone zio ora anni l' dell' un' c' " +
  "dov'è perche' po' 'ciao' 333 1234567 +39 06 (02) 123-4567 mario@posta.it www.x.it http://a.b/c file.pdf perché è più città -ano " +
  "trovano metterla dicendoglielo aiuto gli gn sc ci gi qu cqu zz ss rr iu ui uo ie aeiou y j k w x h ck sh ph ñ ç á ü İ ß ﬁ é ٣ ½ Ⅳ 日 " +
  "😀 \ud800 \udc00 \u0000 \u200b \u00a0 \u0301 \ue000 constructor __proto__ \n **a** [b](c) browser click cool"
).split(" ");
