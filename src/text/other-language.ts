import { wordSet } from "./characters.ts";

/**
 * Names the language or script of a text that is probably not in `own` ("German", "Cyrillic letters"). Returns `null`
 * for `own` and for texts too short to judge. Looks at the most frequent words or letters of the beginning.
 *
 * @param own English name of a language. Default: English
 */
export function detectOtherLanguage(text: string, own = "English"): string | null {
  const beginning = text.slice(0, MAX_CHARS);
  const other = otherScriptOf(beginning) ?? otherWordsOf(beginning, own);
  return other ?? (own !== "English" && isClearlyEnglish(beginning) ? "English" : null);
}

/** Whether a text has several frequent words that English alone has. */
export function isClearlyEnglish(text: string): boolean {
  const words = text.slice(0, MAX_CHARS).toLowerCase().match(WORDS) ?? [];
  const found = words.filter((word) => word.length > 2 && ENGLISH.has(word));
  const own = new Set(found.filter((word) => !LANGUAGES.some(([, frequent]) => frequent.has(word))));
  const [minWords, minShare] = AMONG_OWN;
  return own.size >= minWords && found.length >= minShare * words.length;
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

function otherWordsOf(text: string, own: string): string | null {
  const words = text.toLowerCase().normalize("NFC").match(WORDS) ?? [];
  const ownWords = LANGUAGES.find(([name]) => name === own)?.[1] ?? ENGLISH;
  const known = words.filter((word) => ownWords.has(word)).length;
  const [minWords, minShare] = known === 0 ? WITHOUT_OWN : AMONG_OWN;
  let most = 0;
  let language: string | null = null;
  for (const [name, frequent] of LANGUAGES) {
    const found = words.filter((word) => frequent.has(word));
    if (found.length <= most || new Set(found).size < minWords) continue;
    [most, language] = [found.length, name];
  }
  return most > 2 * known && most >= minShare * words.length ? language : null;
}

const MAX_CHARS = 2_000;
const MIN_LETTERS = 2;
/**
 * [distinct frequent words, fraction of all words] that a language needs. Names such as "de la" and "von der" rule
 * out fewer words.
 */
const AMONG_OWN = [3, 0.25] as const;
const WITHOUT_OWN = [2, 0.3] as const;
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

/** Frequent words of more than one letter. Few of the later ones are also English. */
const LANGUAGES = Object.entries({
  German:
    "der die das und ist nicht ein eine einen dem den des sich mit auf für wir ihr sie es von zu im " +
    "auch wie heute guten ihnen aber oder wenn noch nach bei uns ich du haben sind kann wird danke " +
    "bitte hallo mein meine wo zum zur mir dir ihm kannst können möchte hätte gern gerne wäre habe " +
    "hast hatte wurde werden wann warum wer welche muss soll morgen gestern sein seine seinen seiner " +
    "deine unser kein keine schon immer mehr sehr gut aus durch gegen ohne um vor nur weil dass doch " +
    "wieder jetzt ja nein zwei drei geht tut meiner meinem meinen",
  French:
    "le la les un une des du et est que qui dans pour pas ne sur avec ce cette il elle nous vous je " +
    "tu au aux aujourd allez mais ou où sont être avoir plus bien merci bonjour très comment votre " +
    "mon ma si comme se son sa de toi elles ils tes leur notre voudrais peux peut faire fait suis " +
    "avez avons depuis demain soir matin jour quel quelle quand pourquoi chez sans sous entre aussi " +
    "jamais toujours deux trois quoi parce puis oui non",
  Spanish:
    "el la los las un una de del que en es por para con se su lo como más pero le ya este sí porque " +
    "esta entre cuando muy sin sobre también me hasta hay donde quien está usted gracias hola cómo yo " +
    "mi buenos días mis tus nos puedo puede quiero quisiera tengo tiene ha hace desde ayer hoy mañana " +
    "noche día qué cuál cuándo dónde nada todo todos siempre nunca tres aquí ahora soy estoy fue " +
    "acaba",
  Italian:
    "il lo la gli le un una di del della dei che per non con si sono come ma più anche questo questa " +
    "ho ha nel nella alla al da dal mi ti ci grazie ciao buongiorno dove quando perché molto bene " +
    "oggi mia mio mie suoi sua suo nostro vorrei posso può devo fatto abbiamo hanno ieri domani sera " +
    "mattina giorno quanto quale cosa chi dopo prima senza tra fra già sempre tutto due tre qui ora " +
    "casa stato stata",
  Portuguese:
    "os as um uma de do da dos das que em não para com se por mais como mas foi ao ele ela você na no " +
    "nas nos são está obrigado obrigada olá bom dia meu minha muito também isso eu meus suas seu sua " +
    "nosso queria quero posso pode devo fazer estou estava tenho ontem hoje amanhã noite qual quando " +
    "onde porque nada tudo sempre nunca dois duas três aqui agora pela pelo",
  Dutch:
    "de het een en ik te dat die niet zijn op aan met voor hij er maar om dan zou wat mijn mensen dit " +
    "zo door naar heeft ook bij uit nog wij jij je goed dank hallo hoe gaat vandaag mij haar hun wil " +
    "graag kun moet heb hebt waar wanneer waarom wie hoeveel gisteren morgen vanavond geen altijd " +
    "nooit meer veel twee drie weer zonder mogen wordt gestolen doe maak",
  Polish:
    "nie na się do to że jest jak ale po co tak za od jego ja już tylko czy ma dla był być mnie pan " +
    "dzień dobry dziękuję mi moja mój moje ciebie chciałbym chciałabym chcę mogę można muszę mam masz " +
    "jestem są gdzie kiedy dlaczego kto ile wczoraj jutro dzisiaj wieczór rano bardzo nic wszystko " +
    "zawsze nigdy dwie dwa trzy tutaj teraz przez dojechać",
  Swedish:
    "och att det en som är av för på med den till inte har de ett om jag hej tack var du vi hur mår " +
    "god dag mitt din ditt vill skulle måste hade blev igår imorgon ikväll idag när varför vem vilken " +
    "inga ingen mycket alltid aldrig två tre här utan efter fyra",
  "Danish or Norwegian":
    "og det er en som av af for på med den til ikke har de et jeg hei hej takk tak var du vi hvordan " +
    "dag mitt din vil ville gerne gjerne må hadde havde igår går morgen kveld aften når hvorfor hvem " +
    "hvor ingen meget mye alltid altid aldri aldrig tre nå uten uden etter efter bestille",
  Finnish:
    "ja on ei se että hän oli mutta kun niin mitä minä sinä olen ovat myös tai kuin hyvää huomenta " +
    "kiitos minun minua minulla sinun haluaisin haluan voin voi onko mikä missä milloin miksi kuka " +
    "eilen huomenna tänään illalla paljon kaikki aina kaksi kolme täällä nyt ilman jälkeen olla ole",
  Turkish:
    "ve bir bu da de için ile çok ne var daha gibi ben sen mi mı değil merhaba nasılsınız teşekkür " +
    "iyi benim bana beni senin sana istiyorum istiyor olarak olan yok nerede nasıl neden kim kaç dün " +
    "yarın bugün akşam sabah hiç zaman iki üç burada şimdi sonra kadar olacak",
  Czech:
    "je se na že to jsem si ale jako za tak by jak co od dobrý den děkuji není jsou mě mi můj moje " +
    "chtěl chtěla chci můžu mohu musím mám máš kde kdy proč kdo kolik včera zítra dnes večer ráno " +
    "velmi nic všechno vždy nikdy dva dvě tři tady teď bez po",
  Hungarian:
    "az és hogy nem is egy ez meg csak de már volt jó napot köszönöm vagy mint nekem engem szeretnék " +
    "akarok tudok lehet kell vannak hol mikor miért ki mennyi tegnap holnap este reggel nagyon semmi " +
    "minden mindig soha két három itt nélkül után",
  Romanian:
    "și în nu la de că este cu pe mai un sunt ce din să pentru bună ziua mulțumesc mie meu mea mele " +
    "vreau dori poate trebuie avem unde când cine cât ieri mâine azi seara dimineața foarte nimic " +
    "mereu niciodată doi două trei aici acum fără după",
  Vietnamese:
    "và của là có không người được cho một trong tôi bạn này những với xin chào cảm ơn muốn thể phải " +
    "ở đâu khi nào sao bao hôm qua nay tối sáng rất gì luôn hai ba đây giờ sau bị đi",
  Indonesian:
    "yang dan di dengan untuk dari ini itu tidak ada saya anda pada ke akan selamat pagi terima kasih " +
    "aku kamu mau ingin bisa harus punya mana kapan kenapa siapa berapa kemarin besok malam sekali " +
    "semua selalu pernah dua tiga sini sekarang tanpa setelah sudah",
}).map(([name, words]) => [name, wordSet(words)] as const);
