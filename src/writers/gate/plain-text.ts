/**
 * Normalises text as in the encoder's training: folds homoglyphs, removes invisible characters, straightens quotation
 * marks, collapses spaces. Other languages stay.
 */
export function plainText(text: string): string {
  const composed = text
    .toWellFormed()
    .replaceAll(/[\u2018\u2019\u02bc\u0060\u00b4]/g, "'")
    .replaceAll(/[\u201c\u201d]/g, '"')
    .replaceAll(INVISIBLE, "")
    .normalize("NFKC")
    .replaceAll(INVISIBLE, "")
    .replaceAll(STRAY_MARKS, "$1");
  return foldHomoglyphs(composed)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

/** Includes fillers and selectors, which Unicode classes as letters and marks. */
const INVISIBLE = /(?!\s)[\p{Default_Ignorable_Code_Point}\p{Cf}]+/gu;
/** Combining marks that form no letter with their base, such as strike-through. */
const STRAY_MARKS =
  /([\p{N}\u{1f150}-\u{1f1ff}\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}\p{Script=Canadian_Aboriginal}])\p{M}+/gu;

/**
 * Folds look-alike characters to Latin. Words of mixed alphabets are always folded. Words of one other alphabet are
 * folded if all letters look Latin and the text hides words elsewhere or is mostly Latin, unless another word shows
 * that the language is real; words of rare alphabets are folded in any text. The table is our own.
 */
function foldHomoglyphs(text: string): string {
  // Folding one word may expose another; each pass leaves less.
  for (let given = text; ; ) {
    const read = unmaskLeetspeak(foldLetters(given));
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
  const pure = [...words].flatMap(([word, mixed]) => (mixed || looksLatin(word) ? [] : word));
  const written = ALPHABETS.filter((alphabet) => pure.some((word) => alphabet.test(word)));
  return latin.replaceAll(WORDS, (word) => {
    const mixed = words.get(word);
    if (mixed === undefined) return foldLatin(word);
    const isRead =
      mixed ||
      UNUSUAL.test(word) ||
      ((isHiding || RARE.test(word)) && !written.some((alphabet) => alphabet.test(word)));
    return isRead ? foldLatin(mapLetters(word)) : word;
  });
}

function looksLatin(word: string): boolean {
  for (const letter of word) if (!(letter in LATIN)) return false;
  return true;
}

function isMixed(word: string): boolean {
  return LATIN_LETTER.test(word) || ALPHABETS.filter((alphabet) => alphabet.test(word)).length > 1;
}

/** Folds phonetic letters and small capitals; barred letters only in words that otherwise look English. */
function foldLatin(word: string): string {
  if (!/[^\p{ASCII}]/u.test(word)) return word;
  const plain = mapLetters(word, PHONETIC);
  return /[^\p{ASCII}łŁøØđĐħĦŧŦı]/u.test(plain) ? plain : mapLetters(plain, BARRED);
}

function mapLetters(word: string, table: Readonly<Record<string, string>> = LATIN): string {
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
      // Cherokee's lower case looks like small capitals.
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
/** Rarely written alphabets, each with letters unlike any Latin one. */
const RARE = /[\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}\p{Script=Canadian_Aboriginal}]/u;
const OTHER =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}\p{Script=Canadian_Aboriginal}]/u;
/** Letters of no major language. */
const UNUSUAL = /[ԁԛԝӏӀѵԍԌԜԚԀ]/u;

/** Latin letters, each followed by its look-alikes. */
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

/** White letters on black shapes. */
const LETTER_PICTURES = /[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}]/gu;
/** One or two make a flag. */
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

/**
 * Decodes leetspeak ("k1ll", "my$elf"), only where neighbouring letters call for a vowel or consonant. If a text has
 * one such word, looser forms ("t0") are decoded too. Codes, units, file names and addresses stay.
 */
function unmaskLeetspeak(text: string): string {
  if (!/[a-z][0134579@$!]/i.test(text)) return text;
  const isCapitals = !/\p{Ll}/u.test(text);
  const isWritten = (word: string) => isCapitals || /[a-z]/.test(word);
  let isHiding = false;
  const read = text.replaceAll(WORD, (word) => {
    if (!isLeetspeak(word) || !isWritten(word)) return word;
    isHiding = true;
    return lettersOf(word);
  });
  if (!isHiding) return text;
  return read.replaceAll(WORD, (word) => (LOOSE.test(word) && isWritten(word) ? lettersOf(word) : word));
}

function isLeetspeak(word: string): boolean {
  if (!INSIDE.test(word) || word.replaceAll(/[^a-z]/gi, "").length < 3) return false;
  return VOWEL_MISSING.test(word) || CONSONANT_MISSING.test(word) || BANG.test(word);
}

function lettersOf(word: string): string {
  const isCapital = !/[a-z]/.test(word);
  return word.replaceAll(/[013457@$!]/g, (sign, place: number) => {
    const isL =
      sign === "1" && /[aeoi]/i.test(word[place - 1] ?? "") && CONSONANT.test(word[place + 1] ?? "");
    const letter = isL ? "l" : (LETTERS[sign] ?? sign);
    return isCapital ? letter.toUpperCase() : letter;
  });
}

const LETTERS: Readonly<Record<string, string>> = {
  ...{ "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", $: "s", "!": "i" },
};

/** Excludes addresses, paths, versions and longer numbers; final punctuation belongs to the sentence. */
const WORD =
  /(?<![\p{L}\p{N}\p{M}@$!_/\\=#&%+]|[\p{L}\p{N}][.:])\$?[a-z\d](?:[a-z\d@$!]*[a-z\d@$])?(?![\p{L}\p{N}\p{M}_/\\=@$]|!+[\p{L}\p{N}\p{M}]|[.:][\p{L}\p{N}])/giu;
/** One sign at a time, or doubled, between letters. */
const INSIDE = /^[a-z]+(?:(?:([013457@$!])\1?)[a-z]+)*(?:([013457@$!])\2?)(?:[a-z]{2,}|[lnrt])$/i;
const CONSONANT = /[b-df-hj-np-tv-z]/i;
const VOWEL_MISSING = /[b-df-hj-np-tv-z]([0134@])\1?[b-df-hj-np-tv-z]/i;
const CONSONANT_MISSING = /[aeiouy][57]|[57][aeiouy]|[a-z]\$[a-z]/i;
/** Otherwise the mark ends a sentence: "Stop!don't". */
const BANG = /(?:^|[^a-z])[b-df-hj-np-tv-z]{1,2}!{1,2}[b-df-hj-np-tv-z]/i;
/** Signs at the ends too, except in "5pm" and "1st". */
const LOOSE = /^(?:[a-z]+(?:([013457@$!])\1?[a-z]*)+|[$013457][a-z]{3,}(?:[013457@$!][a-z]*)*)$/i;
