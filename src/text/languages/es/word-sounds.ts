import { wordMap, wordSet } from "../../characters.ts";
import { type Sound, soundsOf } from "./spelling.ts";
import { UNSTRESSED } from "./vocabulary.ts";

const HALF_STRESSED = wordSet(
  "pero para como cuando donde sobre entre desde hasta hacia aunque porque cuanto mientras nuestro nuestra nuestros " +
    "nuestras vuestro vuestra vuestros vuestras bajo ante quienes adonde",
);
/** Words that the rules of spelling would misread, respelled. */
export const RESPELLED = wordMap(
  "méxico méjico,mexicano mejicano,mexicana mejicana,mexicanos mejicanos,mexicanas mejicanas,texas tejas,oaxaca oajaca," +
    "ser serr,software sófgüer,hardware járdüer,web web,webs webs,wifi güifi,whisky güisqui,email iméil,online onláin,internet internét," +
    "whatsapp guátsap,facebook féisbuk,google gúguel,youtube yutúb,twitter túiter,iphone áifon,marketing márketin," +
    "ranking ránkin,parking párkin,streaming estrímin,blog blog,link link,chat chat,jazz yas,rock rok,pizza pitsa,pizzas pitsas," +
    "club klub,show shou,hobby jóbi,rugby rúgbi,karaoke karaóke,zoo zoo,com com,psoe pesóe," +
    "update apdéit,machine mashín,tablet táblet,laptop láptop,manager mánayer,server sérver,amazon ámason,john yon,george yorch," +
    "michael máikel,driver dráiver,podcast pódcast,influencer influénser,holding jóldin,junior yúnior,senior sénior,uber úber," +
    "netflix nétflix,linux línux,android ándroid,microsoft máicrosoft,javascript yávaescript,spotify espótifai,status estátus",
);
const ADVERB = /^(.{3,24})mente$/;
/** Verbs and nouns in "-mente": "aumente", "clemente". */
const NO_STEMS = wordSet(
  "experi ali ator argu incre docu imple comple exple funda orna regla ator fer frag seg sedi cle vehe incle instru",
);

/** Returns the sounds of a lower-case word with its stresses. Before a pause every word is stressed. */
export function wordSounds(word: string, isBeforePause: boolean): Sound[] {
  const [, stem = ""] = ADVERB.exec(word) ?? [];
  if (stem !== "" && !NO_STEMS.has(stem)) {
    const [m, e, n, t, last] = soundsOf("mente");
    const sounds = withStress(soundsOf(stem), stem, false);
    return [...sounds, m!, { ...e!, stress: "ˈ", isClosed: true }, n!, t!, last!];
  }
  const spelled = RESPELLED.get(word) ?? word;
  const sounds = withStress(soundsOf(spelled), spelled, true);
  if (isBeforePause && word !== "y") return sounds;
  for (const sound of sounds) {
    if (UNSTRESSED.has(word)) sound.stress = "";
    if (HALF_STRESSED.has(word) && sound.stress === "ˈ") sound.stress = "ˌ";
  }
  return sounds;
}

/** Adds one main stress, by the accent or the ending, and lighter ones on every second syllable away from it. */
function withStress(sounds: Sound[], word: string, isWhole: boolean): Sound[] {
  const vowels = sounds.filter(({ isVowel }) => isVowel);
  const full = vowels.filter(({ isHeavy }) => !isHeavy);
  const usual = full.at(/[aeiouns]$/.test(word) && full.length > 1 ? -2 : -1);
  const main = vowels.indexOf(vowels.find(({ isAccented }) => isAccented) ?? usual ?? vowels[0]!);
  for (const [at, sound] of vowels.entries()) {
    const isBefore = at < main - 1 && at % 2 === 0;
    const isAfter = isWhole && at > main && (at - main) % 2 === 0 && at < vowels.length - 1;
    sound.stress = at === main ? "ˈ" : (isBefore || isAfter) && !sound.isHeavy ? "ˌ" : "";
  }
  return sounds;
}
