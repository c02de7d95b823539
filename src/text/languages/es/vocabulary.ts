import { wordMap, wordSet } from "../../characters.ts";

export const MONTHS =
  "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(" ");

/** Titles and parts of addresses, which stand before a name: their full stop ends no sentence. */
export const TITLES = wordMap(
  "Sr señor,Sra señora,Srta señorita,Sres señores,Sras señoras,D don,Dña doña,Dr doctor,Dra doctora,Dres doctores," +
    "Drs doctores,Prof profesor,Profa profesora,Lic licenciado,Ing ingeniero,Arq arquitecto,Gral general,Cnel coronel," +
    "Tte teniente,Cap capitán,Sto santo,Sta santa,Fr fray,Mons monseñor,Rvdo reverendo,Hno hermano,Hna hermana," +
    "Hnos hermanos,Excmo excelentísimo,Excma excelentísima,Ilmo ilustrísimo,Ilma ilustrísima,Mtro maestro,Mtra maestra," +
    "Abg abogado,Avda avenida,Av avenida,Pza plaza,Pl plaza,Ctra carretera,Pº paseo,Urb urbanización",
);
/** Abbreviations that stand before a number. */
export const NUMBERED = wordMap(
  "pág página,págs páginas,vol volumen,vols volúmenes,cap capítulo,caps capítulos,núm número,núms números," +
    "art artículo,arts artículos,fig figura,figs figuras,tel teléfono,Tel teléfono,tfno teléfono,Tfno teléfono,Teléf teléfono," +
    "apdo apartado,ap apartado,máx máximo,mín mínimo,aprox aproximadamente,No número,ed edición,p página,pp páginas",
);
/** Other abbreviations: after them a sentence ends if a capital follows. */
export const ABBREVIATIONS = wordMap(
  "Ud usted,Uds ustedes,Vd usted,Vds ustedes,Dpto departamento,Depto departamento,dpto departamento,depto departamento," +
    "etc etcétera,ej ejemplo,admón administración,Cía compañía,izq izquierda,izqda izquierda,izda izquierda," +
    "dcha derecha,der derecha,vs versus,cf confróntese,cfr confróntese,ss siguientes,ibíd ibídem,íd ídem,Atte atentamente," +
    "Fdo firmado,prov provincia,cta cuenta,adj adjunto,esq esquina,bco banco,gob gobierno,lun lunes,mié miércoles,miér miércoles," +
    "jue jueves,vie viernes,sáb sábado,dom domingo,Jr júnior,Ltda limitada,kgs kilos,hrs horas,seg segundos,mins minutos,cts céntimos",
);
/** Abbreviations of several words with their full stops, without spaces. */
export const INITIALS = wordMap(
  "EE.UU Estados Unidos,RR.HH recursos humanos,FF.AA fuerzas armadas,CC.OO Comisiones Obreras,JJ.OO Juegos Olímpicos," +
    "CC.AA comunidades autónomas,DD.HH derechos humanos,p.ej por ejemplo,P.ej por ejemplo,p.e por ejemplo," +
    "a.C antes de Cristo,d.C después de Cristo,a.J.C antes de Jesucristo,d.J.C después de Jesucristo,S.A ese a,S.L ese ele," +
    "C.P código postal,P.D posdata,q.e.p.d que en paz descanse,c.c con copia,S.M su majestad,s.n sin número,D.F de efe",
);

/** Units: singular and plural. Feminine ones end in -a. */
export const UNITS: ReadonlyMap<string, readonly [one: string, many: string]> = new Map(
  [
    ...wordMap(
      "km kilómetro,m metro,cm centímetro,dm decímetro,mm milímetro,µm micrómetro,nm nanómetro,kg kilo,Kg kilo,g gramo,gr gramo," +
        "mg miligramo,t tonelada,l litro,L litro,ml mililitro,mL mililitro,cl centilitro,dl decilitro,hl hectolitro,ha hectárea,h hora," +
        "hs hora,min minuto,s segundo,seg segundo,ms milisegundo,KB kilobyte,kB kilobyte,MB megabyte,GB gigabyte,TB terabyte,W vatio," +
        "kW kilovatio,MW megavatio,Wh vatio-hora,kWh kilovatio-hora,V voltio,mA miliamperio,mAh miliamperio-hora,Hz hercio," +
        "kHz kilohercio,MHz megahercio,GHz gigahercio,cal caloría,kcal kilocaloría,kJ kilojulio,Pa pascal," +
        "kPa kilopascal,bar bar,dB decibelio,px píxel,Mbps megabit-por-segundo,Gbps gigabit-por-segundo,lb libra,oz onza,ft pie," +
        "° grado,º grado,°C grado,ºC grado,°F grado-Fahrenheit,ºF grado-Fahrenheit,′ minuto,″ segundo",
    ),
  ].map(([unit, words]) => {
    const [one = "", ...rest] = words.split("-");
    return [unit, [[one, ...rest].join(" "), [plural(one), ...rest].join(" ")]];
  }),
);

/** Currencies, with the word for hundredths after a slash. */
export const CURRENCIES = wordMap(
  "€ euro/céntimo,EUR euro/céntimo,$ dólar/centavo,US$ dólar/centavo,USD dólar/centavo,£ libra/penique,GBP libra/penique," +
    "¥ yen/sen,JPY yen/sen,MXN peso-mexicano/centavo,MX$ peso-mexicano/centavo,ARS peso-argentino/centavo," +
    "AR$ peso-argentino/centavo,COP peso-colombiano/centavo,CLP peso-chileno/centavo,UYU peso-uruguayo/centavo," +
    "PEN sol/céntimo,S/ sol/céntimo,BRL real/centavo,R$ real/centavo,CHF franco-suizo/céntimo,BTC bitcoin/satoshi,₿ bitcoin/satoshi",
);

export function plural(words: string): string {
  return words.replace(/[^ ]+/g, (word) => (/[aeiouáéó]$/.test(word) ? `${word}s` : `${word}es`));
}

/** Nouns that a number follows as a name, so that it does not agree with the next word: "la página 21 dice". */
export const LABELS = wordSet(
  "página páginas capítulo capítulos número números artículo artículos habitación sala aula línea puerta piso planta " +
    "calle canal vuelo año años tema lección ejercicio unidad nivel tomo volumen acto escena parte fase tipo grupo versión " +
    "figura tabla anexo autobús kilómetro ruta carretera opción paso punto título sección apartado día clase grado guerra mundial",
);
export const FEMININE_DETERMINERS = wordSet("la las una unas esta estas esa esas aquellas otras ambas todas");
/** Feminine nouns that do not end in -a or in a feminine suffix, and masculine ones in -a. */
const FEMININE_NOUNS = wordSet(
  "mujer vez voz luz mano foto moto radio noche tarde calle clase parte flor red ley llave nube gente fase frase base clave " +
    "torre nave carne leche sangre suerte muerte imagen orden sal miel piel cárcel señal catedral capital sede serpiente cruz " +
    "paz raíz nuez actriz fuente mente corriente pared sed tos crisis tesis dosis hipótesis síntesis costumbre",
);
const MASCULINE_NOUNS = wordSet(
  "día mapa planeta cometa tema problema sistema programa idioma clima drama poema síntoma diploma dilema esquema fantasma " +
    "futbolista turista dálmata poeta atleta gramo kilogramo tranvía sofá pijama crucigrama telegrama aroma cura guardia " +
    "policía artista periodista dentista taxista pianista guía papa colega pirata",
);
const FEMININE_SUFFIX = /(?:[cstx]ión|gión|dad|tad|tud|umbre|ez|triz|ie)$/;
/** Adjectives before a noun that do not show its gender. */
const GENDERLESS = wordSet("mil grandes diferentes posibles principales mejores peores importantes jóvenes");

/** Returns whether a noun, or the noun after an adjective, is feminine. */
export function isFeminine(first: string, second = ""): boolean {
  const noun = (GENDERLESS.has(first) && second !== "" ? second : first).toLowerCase();
  const singulars = [noun, noun.replace(/s$/, ""), noun.replace(/es$/, ""), noun.replace(/ces$/, "z")];
  if (singulars.some((word) => MASCULINE_NOUNS.has(word))) return false;
  const singular = noun.replace(/iones$/, "ión").replace(/ces$/, "z");
  const isSuffixed = FEMININE_SUFFIX.test(singular.replace(/e?s$/, ""));
  return /as?$/.test(noun) || isSuffixed || singulars.some((word) => FEMININE_NOUNS.has(word));
}

/** Words without stress of their own: articles, pronouns, prepositions. */
export const UNSTRESSED = wordSet(
  "el la los las lo le les me te se nos os mi mis tu tus su sus de del a al en con por sin y o u e si que tras quien",
);
/** Words that follow a number and are not what it counts, in addition to those without stress. */
const NOT_COUNTED = wordSet(
  "es son era eran fue fueron está están hay no ya más menos para entre como pero cuando donde desde hasta sobre bajo ni según",
);

export function isCounted(word: string): boolean {
  return !UNSTRESSED.has(word) && !NOT_COUNTED.has(word);
}

export const LETTER_NAMES = wordMap(
  "b be,c ce,d de,f efe,g ge,h hache,j jota,k ka,l ele,m eme,n ene,ñ eñe,p pe,q cu,r erre,s ese,t te,v uve,w uve doble," +
    "x equis,y ye,z zeta",
);
