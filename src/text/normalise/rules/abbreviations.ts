import { capitalise, wordMap, wordSet } from "../../characters.ts";
import type { NormaliserTables } from "../../tables/text-tables.ts";
import { isAfterSaying, isCounted, NUMBERED } from "../number-context.ts";
import {
  after,
  alternatives,
  before,
  endAfterStop,
  isWordCharacter,
  matchAt,
  type TokenRule,
  withRanges,
} from "../rule.ts";

/** Abbreviations missing from the voice's list. */
const MORE = wordMap(
  "dept. department,Brig. Brigadier,Op. Opus,op. opus,Pt. Part,Dist. District,Gr. Grade,Pl. Place," +
    "Ct. Court,Sq. Square,Expy. Expressway,Rte. Route,Rm. Room,Fl. Floor,Tel. Telephone,tel. telephone," +
    "ext. extension,Ext. Extension,max. maximum,min. minimum,avg. average,incl. including," +
    "excl. excluding,misc. miscellaneous,temp. temperature,tbsp. tablespoon,tsp. teaspoon," +
    "a.k.a. also known as,resp. respectively,mgmt. management,govt. government,yr. year,wk. week," +
    "ft. featuring,feat. featuring,Esq. Esquire,Hon. Honorable,Intl. International,Natl. National," +
    "Sec. Section,sec. section,art. article,Art. Article,Figs. Figures,figs. figures,eq. equation," +
    "Eq. Equation,vols. volumes,chap. chapter,Chap. Chapter,p. page,c. circa,ca. circa,No. Number," +
    "Nos. Numbers,v. versus,c/o care of,b/c because,y/y year over year,q/q quarter over quarter," +
    "m/m month over month,lg. large,sm. small,med. medium,ex. exercise,Ex. Exercise," +
    "Approx. Approximately,Est. Established,fl. floor,attn. attention,qty. quantity,bldg. building," +
    "pkg. package,pkgs. packages,pcs. pieces,pc. piece,asst. assistant,mgr. manager,pls. please," +
    "dr. doctor,appt. appointment,appts. appointments,apt. apartment,apts. apartments,acct. account," +
    "accts. accounts,addr. address,mtg. meeting,msg. message,hwy. highway,blvd. boulevard,ave. avenue," +
    "univ. university,corp. corporation,assoc. associate,mfr. manufacturer,reqd. required,wkly. weekly," +
    "gov't government,int'l international,nat'l national,ass'n association",
);
const WITHOUT = wordMap(
  "Fwd Forward,FWD Forward,FW Forward,Fw Forward,YoY year over year,QoQ quarter over quarter," +
    "MoM month over month,ATTN Attention,QTY Quantity",
);
/** Small or with a first capital. Most chat words in capitals are spelled: "OMG". */
const IN_CHAT = wordMap(
  "attn attention,qty quantity,bldg building,appt appointment,appts appointments,acct account,mtg meeting," +
    "dept department,govt government,mgmt management,pls please,plz please,thx thanks,ppl people,tmrw tomorrow," +
    "btw by the way,idk I don't know,omg oh my god,tbh to be honest,imo in my opinion,imho in my humble opinion," +
    "brb be right back,smh shaking my head,nvm never mind,irl in real life,lmk let me know,ikr I know right," +
    "ngl not gonna lie,ttyl talk to you later,idc I don't care,afaik as far as I know,jk just kidding," +
    "iirc if I recall correctly,wdym what do you mean,tysm thank you so much,omw on my way,gtg got to go," +
    "hbu how about you,wbu what about you,fwiw for what it's worth",
);
/** Capitalised forms, for the beginning of a sentence, line or label. */
const CAPITALISED = [...MORE, ...IN_CHAT]
  .filter(
    ([key, words]) => /^[a-z]{2}/u.test(key) && !/^(?:featuring|doctor|medium|small|large)$/u.test(words),
  )
  .map(([key, words]) => [capitalise(key), words.charAt(0).toUpperCase() + words.slice(1)] as const);
export const SMALL_ABBREVIATIONS: readonly string[] = [...MORE, ...WITHOUT, ...IN_CHAT]
  .map(([key]) => key)
  .filter((key) => /^[a-z']+$/u.test(key));
/** Context required by an abbreviation that is also a word. */
interface Neighbours {
  readonly after?: RegExp;
  readonly before?: RegExp;
}
const A_NUMBER: Neighbours = {
  after: withRanges(/^ ?(?:\p{Nd}|\(?(?:[ivx]{1,7}|[IVX]{2,7})(?![\p{L}\p{N}]))/u),
};
const A_CODE: Neighbours = {
  after: withRanges(/^ ?(?:(?:[A-Z]{1,4}-?)?\p{Nd}|(?:[ivx]{2,7}|[IVX]{2,7})(?![\p{L}\p{N}]))/u),
};
const AT_BEGINNING: Neighbours = {
  before: /(?:^|[.!?:;•(–—-] ?)$/u,
  after: withRanges(/^ ?(?:\p{Nd}|\p{Ll})/u),
};
const AFTER_A_NAME: Neighbours = { before: withRanges(/\p{Lu}\p{L}+ $/u) };
const SMALL_NEXT = withRanges(/^ \p{Ll}/u);
const PART = /^(?:[Nn]os?|[Aa]rt|[Ss]ec|[Ff]igs?|[Cc]h(?:ap)?)\.$/u;
const NEEDS: ReadonlyMap<string, Neighbours> = new Map<string, Neighbours>([
  ...NUMBERED.map((word) => [`${word}.`, A_NUMBER] as const),
  ...["Fwd", "FWD", "FW", "Fw"].map((key) => [key, { after: /^: / }] as const),
  ...["no.", "No."].map((key) => [key, A_CODE] as const),
  ["Brig.", { after: /^ (?:Gen|Adm)/u }],
  ["ed.", { before: withRanges(/(?:\p{Nd}|st|nd|rd|th|rev\.|new) ?$/u) }],
  ["Sun.", { before: /(?<!\b(?:the|The|a|that|our) )$/u }],
  ["v.", { before: withRanges(/\p{Lu}[\p{L}.']* $/u), after: withRanges(/^ \p{Lu}/u) }],
  ["ft.", { before: withRanges(/\p{Lu}\p{L}* $/u), after: withRanges(/^ \p{Lu}/u) }],
  ...["jk", "Jk", "nvm", "Nvm", "ikr"].map((key) => [key, { after: /^(?:[.,!?;:)…]|$)/u }] as const),
  ["feat.", { after: withRanges(/^ \p{Lu}/u) }],
  ...["lg.", "sm.", "med.", "min.", "temp."].map((key) => [key, { after: SMALL_NEXT }] as const),
  ["dr.", { after: withRanges(/^(?:'s)? \p{Ll}/u) }],
  ...["Max.", "Min.", "Avg.", "Temp.", "Approx.", "Est.", "Qty."].map((key) => [key, AT_BEGINNING] as const),
  ["fl.", { before: /\d(?:st|nd|rd|th) $/u }],
  ...["Ct.", "Pl.", "Sq."].map((key) => [key, AFTER_A_NAME] as const),
]);
const NAME_AFTER = withRanges(/^(?:\. ?| )(?=[\p{Lu}\p{Co}])/u);
const GENERATION = withRanges(/^Gen (?:[XYZ](?![\p{L}\p{N}.])|Alpha\b|Beta\b|AI\b)/u);
const TITLE = withRanges(/[A-Z][a-z]{1,4}(?=(?:\. ?| )[\p{Lu}\p{Co}])/uy);
const WITHOUT_STOP = wordSet("Mr Mrs Ms Dr Prof St Mt Ft Gen Gov Sen Capt Lt Sgt Msgr Cpl");

/** Expands titles and abbreviations. The rules for streets come before. */
export function abbreviations(tables: NormaliserTables): TokenRule {
  const full = new Map([
    ...tables.abbreviations,
    ...MORE,
    ...IN_CHAT,
    ...CAPITALISED,
    ...WITHOUT,
    ["Sen.", "Senator"] as const,
  ]);
  // "et al." is handled as its two words.
  const keys = [...full.keys()].filter((key) => !key.includes(" "));
  const withStop = withRanges(alternatives(keys.filter((key) => key.endsWith("."))), "uy");
  const without = withRanges(
    `(?:${alternatives(keys.filter((key) => !key.endsWith(".")))})(?![\\p{L}\\p{N}_]|\\.\\p{L})`,
    "uy",
  );
  return (text, at) => {
    if (text.charAt(at - 1) === "&") return null;
    const title = matchAt(TITLE, text, at);
    const name = title === null ? undefined : tables.titles.get(title[0]);
    if (title !== null && name !== undefined && !GENERATION.test(text.slice(at, at + 12))) {
      const end = at + title[0].length;
      const hasStop = text.charAt(end) === ".";
      if ((hasStop || WITHOUT_STOP.has(title[0])) && NAME_AFTER.test(after(text, end)))
        return { words: name, end: hasStop ? end + 1 : end };
    }
    const key = (matchAt(withStop, text, at) ?? matchAt(without, text, at))?.[0];
    const words = full.get(key ?? "");
    if (key === undefined || words === undefined) return null;
    const end = at + key.length;
    if (isWordCharacter(text.charAt(end)) || isInPath(key, text, at)) return null;
    const needs = NEEDS.get(key);
    if (needs?.after?.test(after(text, end)) === false) return null;
    if (needs?.before?.test(before(text, at)) === false) return null;
    if (key === "Est." && SMALL_NEXT.test(after(text, end))) return { words: "Estimated", end };
    if (PART.test(key) && isCounted(after(text, end))) return null;
    if (/^no/u.test(key) && isAfterSaying(before(text, at))) return null;
    return { words, end: key.endsWith(".") && end === text.length ? endAfterStop(text, end - 1) : end };
  };
}

function isInPath(key: string, text: string, at: number): boolean {
  return key.includes("/") && (text.charAt(at - 1) === "/" || text.charAt(at + key.length) === "/");
}
