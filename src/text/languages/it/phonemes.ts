import { wordMap, wordSet } from "../../characters.ts";
import type { PhonemeUnit, WordSources } from "../language.ts";
import { italianOf, looksEnglish } from "./loan-words.ts";
import { phonemesOf, type StressLevel, soundsOf } from "./sounds.ts";
import type { StressTable } from "./stress-table.ts";
import { nucleiOf, withoutAccents } from "./syllables.ts";

/** Words without stress of their own. */
const UNSTRESSED = wordSet(
  "il lo la i gli le un l d c n s di a da in con su per tra fra del dei al ai nel nei sul sui dal dai col e è o ed od ma se " +
    "che me te mi ti ci vi si ne non ho ha hai più qui quel quei qual ch ad tu chi mai",
);
const HALF_STRESSED = wordSet(
  "una dello della delle degli allo alla alle agli nella nelle negli nello sulla sulle sugli sullo dalla dalle dagli dallo " +
    "questo questa questi queste quelle quegli come anche hanno sia abbiamo avevo mio mia miei mie tuo tua suo sua suoi tuoi " +
    "sue tue loro noi voi lui sono sei siamo senza ogni erano mentre contro nostro nostra nostri nostre vostro vostra vostri vostre " +
    "essi esse neanche alcuni alcune avrebbe avrebbero sarebbe sarebbero",
);
/** Words that have lost their end: here the apostrophe is no accent. */
const APOCOPE = wordSet("po mo be va fa da sta di to ca a de ne co su que ve te i");
const LETTER_NAMES = wordMap(
  "b bi,c ci,d di,f effe,g gi,h acca,j ilunga,k cappa,l elle,m emme,n enne,p pi,q cu,r erre,s esse,t ti,v vu,w doppiavu," +
    "x ics,y ipsilon,z zeta",
);

const TOKEN = /[\p{L}\p{M}]+(?:['’](?=\p{L}))?|[\ue000-\uf8ff]|[^\p{L}\p{M}\ue000-\uf8ff]+/gu;
const LETTERS = /^[\p{L}\p{M}]/u;
const ACCENT_AHEAD = /^['’`´](?![\p{L}\p{N}])/u;
const OPENED_QUOTE = /(?:^|[\s(«“"])['‘](?=\p{L})/u;
const PAUSE_AHEAD = /^ ?(?:[;:,.!?…]|$)/u;
/** Letters that are spelled of a word without vowels. */
const MAX_SPELLED = 8;
/** Longer runs of letters are no words; each part is read by itself. */
const MAX_LETTERS = 80;
const LONG_PARTS = /.{1,40}/gu;

/** What is written around a word. */
interface Place {
  /** Whether an apostrophe and another word follow: "l'", "dell'". */
  readonly isElided: boolean;
  /** Whether an apostrophe stands for an accent: "perche'". */
  readonly isAccented: boolean;
  /** Whether a mark follows, before which no word is without stress, or "dov'", "com'" go before. */
  readonly isStressed: boolean;
}

/** Returns a function that reads normalised sentences: words, given phonemes, and the marks between them. */
export function createUnitReader(
  table: StressTable,
): (sentence: string, words: WordSources) => readonly PhonemeUnit[] {
  return (sentence, words) => {
    const units: PhonemeUnit[] = [];
    const mayQuote = OPENED_QUOTE.test(sentence);
    let isJoined = true;
    let elided = "";
    for (const { 0: token, index: from } of sentence.matchAll(TOKEN)) {
      const to = from + token.length;
      const add = (phonemes: string, joinsNext: boolean): void => {
        if (phonemes === "") return;
        units.push({ phonemes, from, to });
        isJoined = joinsNext;
      };
      if (LETTERS.test(token)) {
        const isElided = /['’]$/.test(token);
        const next = sentence.slice(to, to + 2);
        const isAccented = !isElided && !mayQuote && ACCENT_AHEAD.test(next);
        const isStressed = PAUSE_AHEAD.test(next) || elided.length > 2;
        const written = isElided ? token.slice(0, -1) : token;
        add(readWord(written, { isElided, isAccented, isStressed }, words), isElided);
        elided = isElided ? token : "";
      } else if (token >= "\ue000" && token <= "\uf8ff") add(words.given(token) ?? "", false);
      else {
        const marks = isJoined ? marksOf(token).trimStart() : marksOf(token);
        add(marks, marks.endsWith(" "));
      }
    }
    return withoutEndSpace(units);
  };

  function readWord(written: string, place: Place, words: WordSources): string {
    const word = simplified(written.toLowerCase());
    if (word.length > MAX_LETTERS) {
      const parts = word.match(LONG_PARTS) ?? [];
      return parts.map((part, at) => say(part, at < parts.length - 1 ? IN_A_LONG_WORD : place)).join("");
    }
    if (place.isElided && word === "c") return "ʧ";
    if (place.isAccented && /[aeiou]$/.test(word) && !APOCOPE.has(word))
      return say(withFinalAccent(word), place);
    if (!place.isElided && !/[aeiouyàèéìòóù]/.test(word)) return spelled(word);
    const loan = place.isElided || isItalian(word) ? null : words.english(written);
    return loan === null ? say(word, place) : italianOf(word, loan);
  }

  function isItalian(word: string): boolean {
    if (!looksEnglish(word) || UNSTRESSED.has(word) || HALF_STRESSED.has(word)) return true;
    return table.isListed(word) || table.isListed(`${word}e`);
  }

  function spelled(word: string): string {
    const letters = Array.from(word.slice(0, MAX_SPELLED), (letter) => LETTER_NAMES.get(letter) ?? "");
    return letters
      .filter((name) => name !== "")
      .map((name) => say(name, SPELLED))
      .join(" ");
  }

  function say(word: string, place: Place): string {
    const accented = place.isElided ? word : table.accented(word);
    const phonemes = phonemesOf(soundsOf(accented), levelOf(word, place));
    // "cos'è"
    return place.isElided ? phonemes.replace(/(?<=[aeiou])s$/, "z") : phonemes;
  }
}

const SPELLED: Place = { isElided: false, isAccented: false, isStressed: true };
const IN_A_LONG_WORD: Place = { isElided: false, isAccented: false, isStressed: false };

function levelOf(word: string, { isElided, isStressed }: Place): StressLevel {
  if (UNSTRESSED.has(word)) return isStressed && !isElided ? "main" : "none";
  if (HALF_STRESSED.has(word)) return "half";
  return isElided && nucleiOf(withoutAccents(word)).length < 2 ? "none" : "main";
}

/** "perche'", "citta'": a typed apostrophe for an accent. */
function withFinalAccent(word: string): string {
  const isAcute = /(?:ch|tr)e$|^(?:ne|se)$/.test(word);
  return (word + (isAcute ? "\u0301" : "\u0300")).normalize("NFC");
}

/** Reduces letters of other alphabets to Italian ones with their accents: "für" → "fur", "ñ" → "n". */
function simplified(word: string): string {
  return word
    .normalize("NFD")
    .replace(/([aeiou])?[\u0300-\u036f]+/g, (run, vowel?: string) => {
      if (vowel === undefined) return "";
      if (run.includes("\u0301"))
        return ("eo".includes(vowel) ? `${vowel}\u0301` : `${vowel}\u0300`).normalize("NFC");
      return run.includes("\u0300") ? `${vowel}\u0300`.normalize("NFC") : vowel;
    })
    .replace(/[^a-zàèéìòóù]/g, (letter) => OTHER_LETTERS.get(letter) ?? "");
}

const OTHER_LETTERS = wordMap("ß ss,æ e,œ e,ø o,ł l,đ d,ð d,þ t,ı i");

/** Writes the marks that voices know; anything else is a space. */
function marksOf(gap: string): string {
  return gap
    .replace(/[«„]/g, "“")
    .replaceAll("»", "”")
    .replace(/[^;:,.!?—…()“”"]+/g, " ")
    .replace(/ (?=[;:,.!?…)])/g, "");
}

function withoutEndSpace(units: PhonemeUnit[]): PhonemeUnit[] {
  const last = units.at(-1);
  if (last === undefined || !last.phonemes.endsWith(" ")) return units;
  const phonemes = last.phonemes.trimEnd();
  return phonemes === "" ? units.slice(0, -1) : [...units.slice(0, -1), { ...last, phonemes }];
}
