import { wordMap, wordSet } from "../../characters.ts";

export const MONTHS =
  "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre".split(" ");

/** Titles and parts of addresses, which stand before a name: their full stop ends no sentence. */
export const TITLES = wordMap(
  "Sig signor,sig signor,Sig.ra signora,sig.ra signora,Sig.na signorina,sig.na signorina,Sigg signori,sigg signori,Dott dottor," +
    "dott dottor,Dott.ssa dottoressa,dott.ssa dottoressa,Dr dottor,Dr.ssa dottoressa,dr dottor,Prof professor,prof professor," +
    "Prof.ssa professoressa,prof.ssa professoressa,Ing ingegner,ing ingegner,Avv avvocato,avv avvocato,Arch architetto," +
    "Geom geometra,Rag ragionier,Cav cavalier,Comm commendator,On onorevole,Sen senatore,Gen generale,Col colonnello," +
    "Cap capitano,Ten tenente,Mons monsignor,Rev reverendo,Fra fra,S san,Ss santissimo,SS santissimo,P.zza piazza,p.zza piazza," +
    "P.za piazza,C.so corso,c.so corso,V.le viale,v.le viale,V via,L.go largo,Loc località,Egr egregio,Gent.ma gentilissima," +
    "Gent.mo gentilissimo,Spett spettabile,Spett.le spettabile,Ill.mo illustrissimo",
);
/** Abbreviations that stand before a number. */
export const NUMBERED = wordMap(
  "pag pagina,pagg pagine,p pagina,pp pagine,vol volume,voll volumi,cap capitolo,capp capitoli,art articolo,artt articoli," +
    "Art articolo,fig figura,Fig figura,figg figure,tav tavola,tab tabella,tel telefono,Tel telefono,cell cellulare," +
    "Cell cellulare,int interno,sc scala,max massimo,min minimo,ca circa,n numero,N numero,nn numeri,num numero,par paragrafo," +
    "vers versetto,ed edizione,civ civico",
);
/** Other abbreviations: after them a sentence ends if a capital follows. */
export const ABBREVIATIONS = wordMap(
  "ecc eccetera,etc eccetera,es esempio,Es esempio,cfr confronta,Cfr confronta,cit citato,op opera,vs versus,prov provincia," +
    "gg giorni,mq metri quadrati,min minuti,sec secondi,ore ore,lun lunedì,mar martedì,mer mercoledì,gio giovedì,ven venerdì," +
    "sab sabato,dom domenica,tot totale,abb abbonamento,dip dipartimento,ass associazione,soc società,F.lli fratelli," +
    "f.lli fratelli,Jr junior,nr numero",
);
/** Abbreviations of several words with their full stops, without spaces. */
export const INITIALS = wordMap(
  "p.es per esempio,P.es Per esempio,ad.es ad esempio,Ad.es Ad esempio,a.C avanti Cristo,d.C dopo Cristo,S.p.A esse pi a," +
    "s.p.a esse pi a,S.r.l esse erre elle,s.r.l esse erre elle,c.a circa,u.s ultimo scorso,c.m corrente mese,n.b nota bene," +
    "N.B nota bene,P.S post scriptum,p.v prossimo venturo,s.l.m sul livello del mare,c.p casella postale,C.P casella postale," +
    "S.S sua santità,S.E sua eccellenza,V.le viale,U.S.A usa,O.N.U onu,F.lli fratelli,f.lli fratelli",
);

const SAME = "=";
/** Units: singular and plural, which is made by the endings unless it is given. Feminine ones end in -a. */
export const UNITS: ReadonlyMap<string, readonly [one: string, many: string]> = new Map(
  [
    ...wordMap(
      "km chilometro,m metro,cm centimetro,dm decimetro,mm millimetro,µm micrometro,nm nanometro,kg chilo,Kg chilo,hg ettogrammo," +
        "g grammo,gr grammo,mg milligrammo,t tonnellata,q quintale,l litro,L litro,ml millilitro,mL millilitro,cl centilitro," +
        "dl decilitro,hl ettolitro,ha ettaro,mq metro-quadrato,kmq chilometro-quadrato,mc metro-cubo,h ora,min minuto,s secondo," +
        "sec secondo,ms millisecondo,kB kilobyte=,KB kilobyte=,MB megabyte=,GB gigabyte=,TB terabyte=,W watt=,kW chilowatt=," +
        "MW megawatt=,Wh wattora=,kWh chilowattora=,V volt=,A ampere=,mA milliampere=,mAh milliamperora=,Hz hertz=,kHz chilohertz=," +
        "MHz megahertz=,GHz gigahertz=,cal caloria,kcal chilocaloria,J joule=,kJ chilojoule=,N newton=,Pa pascal=,hPa ettopascal=," +
        "bar bar=,dB decibel=,px pixel=,Mbps megabit-al-secondo=,Gbps gigabit-al-secondo=,lb libbra,oz oncia,ft piede,in pollice," +
        "mi miglio,kn nodo,° grado,°C grado,ºC grado,°F grado-Fahrenheit,ºF grado-Fahrenheit,′ minuto,″ secondo",
    ),
  ].map(([unit, words]) => {
    const [one, ...rest] = words.replace(SAME, "").split("-");
    const many = words.endsWith(SAME) ? one! : plural(one!);
    const others = rest.map((word) => (/o$/.test(word) && word !== "secondo" ? plural(word) : word));
    return [unit, [[one, ...rest].join(" "), [many, ...others].join(" ")]];
  }),
);

/** Currencies: singular, plural, and the plural of their hundredths. Feminine ones end in -a. */
export const CURRENCIES: ReadonlyMap<string, readonly [one: string, many: string, cents: string]> = new Map(
  [
    ...wordMap(
      "€ euro euro centesimi,EUR euro euro centesimi,$ dollaro dollari centesimi,US$ dollaro dollari centesimi," +
        "USD dollaro dollari centesimi,£ sterlina sterline pence,GBP sterlina sterline pence,¥ yen yen sen,JPY yen yen sen," +
        "CHF franco franchi centesimi,₿ bitcoin bitcoin satoshi,BTC bitcoin bitcoin satoshi",
    ),
  ].map(([sign, words]) => [sign, words.split(" ") as [string, string, string]]),
);

export function plural(noun: string): string {
  if (noun === "ora") return "ore";
  if (noun === "miglio") return "miglia";
  return noun.endsWith("a") ? noun.replace(/(?:(?<=c)i)?a$/, "e") : noun.replace(/i?[oe]$/, "i");
}

/** Nouns that a Roman numeral follows, as an ordinal. */
export const NUMBERED_BY_ROMAN = wordSet(
  "secolo capitolo atto parte volume canto libro titolo tomo fase classe sezione scena grado tipo congresso concilio papa re " +
    "imperatore legislatura municipio guerra millennio episodio lezione figura tavola allegato punto comma",
);
/** Words after a number that are not what it counts. */
const NOT_COUNTED = wordSet(
  "il lo la i gli le un uno una di a da in con su per tra fra e o ma che se non al allo alla ai agli alle del dello della dei " +
    "degli delle nel nello nella nei negli nelle dal dalla sul sulla è sono era volte circa all nell dell dall sull",
);
const FEMININE_NOUNS = wordSet(
  "notte classe parte chiave gente frase mente legge voce luce croce pace carne neve nave arte morte fonte estate madre moglie " +
    "serie specie mano foto moto auto radio bici tesi crisi analisi ipotesi sintesi base fase torre valle rete sede fame sete",
);
const MASCULINE_IN_A =
  /(?:[eio]ma|amma|gramma|ista|eta|nauta|crate|cida|papa|colera|vaglia|gorilla|cinema|sosia|boia)$/;
const FEMININE_SUFFIX = /(?:[zsg]ione|tà|tù|trice|udine|aggine|igine|ie)$/;

export function isCounted(word: string): boolean {
  return !NOT_COUNTED.has(word);
}

/** Returns whether a singular noun is feminine. */
export function isFeminine(noun: string): boolean {
  if (FEMININE_NOUNS.has(noun) || FEMININE_SUFFIX.test(noun)) return true;
  return noun.endsWith("a") && !MASCULINE_IN_A.test(noun);
}

/** Returns the article for "one" with the space or apostrophe after it: "un libro", "uno zio", "una casa", "un'ora". */
export function oneBefore(noun: string): string {
  if (isFeminine(noun)) return /^[aeiouàèéìòóù]/.test(noun) ? "un'" : "una ";
  return /^(?:s[^aeiouàèéìòóù]|z|gn|ps|pn|x|y|i[aeou])/.test(noun) ? "uno " : "un ";
}

export const LETTER_NAMES = wordMap(
  "a a,b bi,c ci,d di,e e,f effe,g gi,h acca,i i,j i lunga,k cappa,l elle,m emme,n enne,o o,p pi,q cu,r erre,s esse,t ti,u u," +
    "v vu,w doppia vu,x ics,y ipsilon,z zeta",
);
