import { wordSet } from "./characters.ts";

/**
 * What a text is written in, where that does not look like English: "German", "Cyrillic letters". `null` where it does, and for
 * texts that are too short to tell. It judges by what is most frequent, words or letters, and by no more than its beginning.
 */
export function otherLanguageOf(text: string): string | null {
  const beginning = text.slice(0, MAX_CHARS);
  return otherScriptOf(beginning) ?? otherWordsOf(beginning);
}

function otherScriptOf(text: string): string | null {
  const letters = text.match(LETTERS)?.length ?? 0;
  for (const [name, pattern] of SCRIPTS) {
    const found = text.match(pattern)?.length ?? 0;
    if (found >= MIN_LETTERS && 2 * found > letters) return name;
  }
  const foreign = letters - (text.match(LATIN)?.length ?? 0);
  return foreign >= MIN_LETTERS && 2 * foreign > letters ? "letters of another script" : null;
}

function otherWordsOf(text: string): string | null {
  const words = text.toLowerCase().normalize("NFC").match(WORDS) ?? [];
  const english = words.filter((word) => ENGLISH.has(word)).length;
  let most = 0;
  let language: string | null = null;
  for (const [name, frequent] of LANGUAGES) {
    const found = words.filter((word) => frequent.has(word));
    if (found.length <= most || new Set(found).size < MIN_WORDS) continue;
    [most, language] = [found.length, name];
  }
  return most > 2 * english && most >= MIN_SHARE * words.length ? language : null;
}

const MAX_CHARS = 2_000;
const MIN_LETTERS = 2;
/** Different ones: names have "de la" and "von der". */
const MIN_WORDS = 3;
const MIN_SHARE = 0.25;
const LATIN = /\p{Script=Latin}/gu;
const LETTERS = /\p{L}/gu;
const WORDS = /\p{L}+(?:-\p{L}+)*/gu;

const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ["Cyrillic letters", /\p{Script=Cyrillic}/gu],
  ["Greek letters", /\p{Script=Greek}/gu],
  ["Arabic letters", /\p{Script=Arabic}/gu],
  ["Hebrew letters", /\p{Script=Hebrew}/gu],
  ["Devanagari letters", /\p{Script=Devanagari}/gu],
  ["Thai letters", /\p{Script=Thai}/gu],
  ["Korean letters", /\p{Script=Hangul}/gu],
  ["Japanese letters", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ["Chinese characters", /\p{Script=Han}/gu],
];

const ENGLISH = wordSet(
  "the of and to a in is it you that he was for on are with as i his they be at one have this from or had by but not what all were " +
    "we when your can said there an each which she do how their if will up other about out many then them these so some her would " +
    "my who has no please thank yes hello me us our am did",
);

/** Frequent words of more than one letter, in small letters; hardly one of them is English. */
const LANGUAGES = Object.entries({
  German:
    "der die das und ist nicht ein eine einen dem den des sich mit auf für wir ihr sie es von zu im auch wie " +
    "heute guten ihnen aber oder wenn noch nach bei uns ich du haben sind kann wird danke bitte hallo mein meine " +
    "wo zum zur",
  French:
    "le la les un une des du et est que qui dans pour pas ne sur avec ce cette il elle nous vous je tu au aux " +
    "aujourd allez mais ou où sont être avoir plus bien merci bonjour très comment votre mon ma si comme se son sa",
  Spanish:
    "el la los las un una de del que en es por para con se su lo como más pero le ya este sí porque esta entre " +
    "cuando muy sin sobre también me hasta hay donde quien está usted gracias hola cómo yo mi buenos días",
  Italian:
    "il lo la gli le un una di del della dei che per non con si sono come ma più anche questo questa ho ha nel " +
    "nella alla al da dal mi ti ci grazie ciao buongiorno dove quando perché molto bene oggi",
  Portuguese:
    "os as um uma de do da dos das que em não para com se por mais como mas foi ao ele ela você na no nas nos são " +
    "está obrigado obrigada olá bom dia meu minha muito também isso eu",
  Dutch:
    "de het een en ik te dat die niet zijn op aan met voor hij er maar om dan zou wat mijn mensen dit zo door " +
    "naar heeft ook bij uit nog wij jij je goed dank hallo hoe gaat vandaag",
  Polish:
    "nie na się do to że jest jak ale po co tak za od jego ja już tylko czy ma dla był być mnie pan dzień dobry " +
    "dziękuję",
  Swedish:
    "och att det en som är av för på med den till inte har de ett om jag hej tack var du vi hur mår god dag",
  "Danish or Norwegian":
    "og det er en som av af for på med den til ikke har de et jeg hei hej takk tak var du vi hvordan dag",
  Finnish:
    "ja on ei se että hän oli mutta kun niin mitä minä sinä olen ovat myös tai kuin hyvää huomenta kiitos",
  Turkish:
    "ve bir bu da de için ile çok ne var daha gibi ben sen mi mı değil merhaba nasılsınız teşekkür iyi",
  Czech: "je se na že to jsem si ale jako za tak by jak co od dobrý den děkuji není jsou",
  Hungarian: "az és hogy nem is egy ez meg csak de már volt jó napot köszönöm vagy mint",
  Romanian: "și în nu la de că este cu pe mai un sunt ce din să pentru bună ziua mulțumesc",
  Vietnamese: "và của là có không người được cho một trong tôi bạn này những với xin chào cảm ơn",
  Indonesian:
    "yang dan di dengan untuk dari ini itu tidak ada saya anda pada ke akan selamat pagi terima kasih",
}).map(([name, words]) => [name, wordSet(words)] as const);
