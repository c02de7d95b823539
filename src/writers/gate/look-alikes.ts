import { unmasked } from "./masked-words.ts";

/**
 * Letters, figures and signs that only look like Latin ones, as those. A word that mixes alphabets is read as it looks. One that is all of
 * another alphabet is too, where that alphabet stands for nothing else: in a text that hides words elsewhere or is mostly
 * Latin, unless some word shows that the other language is really written; alphabets that hardly anybody writes, anywhere
 * else. The table is our own: letters that a reader takes for Latin ones at a glance.
 */
export function foldLookAlikes(text: string): string {
  // What is read in one way may show what hides elsewhere; each time there is less left to read.
  for (let given = text; ; ) {
    const read = unmasked(foldLetters(given));
    if (read === given) return read;
    given = read;
  }
}

function foldLetters(text: string): string {
  if (!/[^\p{ASCII}]/u.test(text)) return text;
  const latin = text.replaceAll(LETTER_PICTURES, letterOf).replaceAll(FLAGS, flagLetters);
  const others = (latin.match(WORDS) ?? []).filter((word) => OTHER.test(word));
  const words = new Map(others.map((word) => [word, isMixed(word)]));
  const isHiding =
    2 * count(latin, /\p{Script=Latin}/gu) > count(latin, /\p{L}/gu) ||
    [...words].some(([word, mixed]) => mixed || UNUSUAL.test(word));
  const pure = [...words].flatMap(([word, mixed]) => (mixed || isLike(word) ? [] : word));
  const written = ALPHABETS.filter((alphabet) => pure.some((word) => alphabet.test(word)));
  return latin.replaceAll(WORDS, (word) => {
    const mixed = words.get(word);
    if (mixed === undefined) return foldLatin(word);
    const isRead =
      mixed ||
      UNUSUAL.test(word) ||
      ((isHiding || RARE.test(word)) && !written.some((alphabet) => alphabet.test(word)));
    return isRead ? foldLatin(letterwise(word)) : word;
  });
}

/** Whether all of its letters look like Latin ones. */
function isLike(word: string): boolean {
  for (const letter of word) if (!(letter in LATIN)) return false;
  return true;
}

function isMixed(word: string): boolean {
  return LATIN_LETTER.test(word) || ALPHABETS.filter((alphabet) => alphabet.test(word)).length > 1;
}

/** Phonetic letters and small capitals always; letters that languages have, in words that look English else. */
function foldLatin(word: string): string {
  if (!/[^\p{ASCII}]/u.test(word)) return word;
  const plain = letterwise(word, PHONETIC);
  return /[^\p{ASCII}łŁøØđĐħĦŧŦı]/u.test(plain) ? plain : letterwise(plain, BARRED);
}

function letterwise(word: string, table: Readonly<Record<string, string>> = LATIN): string {
  return Array.from(word, (letter) => table[letter] ?? letter).join("");
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function tableOf(pairs: string): Readonly<Record<string, string>> {
  const table: Record<string, string> = Object.create(null);
  for (const pair of pairs.split(" ")) {
    const [latin = "", ...others] = pair;
    for (const other of others) {
      table[other] = latin;
      // Cherokee's small letters are small capitals.
      if (CHEROKEE.test(other)) table[other.toLowerCase()] = latin.toLowerCase();
    }
  }
  return table;
}

const WORDS = /\p{L}+/gu;
const ALPHABETS = [
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Lisu}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Canadian_Aboriginal}/u,
];
const CHEROKEE = /\p{Script=Cherokee}/u;
const LATIN_LETTER = /\p{Script=Latin}/u;
/** Of few people, each with letters of its own that look like no Latin one. */
const RARE = /[\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}\p{Script=Canadian_Aboriginal}]/u;
const OTHER =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}\p{Script=Canadian_Aboriginal}]/u;
/** Letters of no large language, chosen for their looks. */
const UNUSUAL = /[ԁԛԝӏӀѵԍԌԜԚԀ]/u;

/** A Latin letter and what looks like it, from the other alphabets. */
const LATIN = tableOf(
  "aаα AАΑᎪ bьв BВΒᏴ cсς CСϹᏟ dԁ DԀᎠ eеёε EЕЁΕᎬ fғϝ FҒϜ gԍց GԌᏀ hһнհ HНΗᎻ iіїιᎥ IІЇΙ jјϳ JЈᎫ kкκ KКΚᏦ lӏ " +
    "LᏞ IӀ mм MМΜᎷ nпηոռ NΝ oоοσօ OОΟՕ pрρ PРΡᏢ qԛզ QԚ rгᎡ sѕ SЅՏᏚ tтτ TТΤᎢ uυսμ UՍ vѵνᏙ VѴ wԝωш WԜᎳ xхχ XХΧ " +
    "yуүγ YУҮΥᎽ ZΖᏃ " +
    "Aꓮᗩᗅ Bꓐᗷ Cꓚᑕ Dꓓᗪᗞ Eꓰᗴᕮ Fꓝᖴ Gꓖᘜ Hꓧᕼ Iꓲ Jꓙᒍ Kꓗ Lꓡᒪ Mꓟᗰ Nꓠᑎ Oꓳᗝ Pꓑᑭ RꓣᖇᏒ Sꓢᔕ Tꓔ Uꓴᑌ " +
    "Vꓦᐯ Wꓪᗯ Xꓫ Yꓬ Zꓜᘔ aⲁ AⲀ bⲃᑲ BⲂ dᑯ eⲉ EⲈ zⲍ ZⲌ hⲏ HⲎ iⲓ IⲒ kⲕ KⲔ lⲗ mⲙ MⲘ nⲛⲡ NⲚ oⲟ OⲞ pⲣ PⲢ qᑫ rⲅ sⲥ CⲤ " +
    "tⲧ TⲦ uⲩ YⲨ xⲭ XⲬ wⲱ",
);
const PHONETIC = tableOf(
  "aᴀɑ bʙɓ cᴄ dᴅɗɖ eᴇɛǝə fꜰ gɡɢɠ hʜɦ iɪɩɨ jᴊʝ kᴋƙ lʟƚɭɫ mᴍɱ nɴɳɲ oᴏɔ pᴘƥ qǫ rʀɾɽ sꜱʂ tᴛʈƭ uᴜʉʊ vᴠʋ wᴡɯ xᶍ yʏƴ zᴢʐ",
);
const BARRED = tableOf("lł LŁ oø OØ dđ DĐ hħ HĦ tŧ TŦ iı");

/** White letters on black discs and squares, which Unicode keeps as pictures. */
const LETTER_PICTURES = /[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}]/gu;
/** One or two are a flag. */
const FLAGS = /[\u{1f1e6}-\u{1f1ff}]{3,}/gu;

function letterOf(picture: string): string {
  const place = (picture.codePointAt(0) ?? 0) - 0x1f150;
  return String.fromCharCode(97 + (place % 32));
}

function flagLetters(pictures: string): string {
  return Array.from(pictures, (picture) =>
    String.fromCharCode((picture.codePointAt(0) ?? 0) - 0x1f1e6 + 97),
  ).join("");
}
