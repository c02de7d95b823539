import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadItalian } from "../../../src/text/languages/it/italian.ts";
import { loadStressTable, parseStressTable } from "../../../src/text/languages/it/stress-table.ts";
import { RewrittenText } from "../../../src/text/rewritten-text.ts";
import { TOP } from "../../architecture/top.ts";
import { createReader, goesOn, goldenRows, placesOf } from "./reading.ts";

const ITALIAN = await loadItalian();
const read = createReader(ITALIAN, "ʤˈiŋɡo");

describe("Italian text in words", () => {
  for (const [text = "", words] of goldenRows("it-readings.tsv"))
    it(`"${text}" is "${words}"`, () => assert.equal(ITALIAN.normalise(RewrittenText.of(text)).text, words));
});

describe("Italian phonemes", () => {
  it("are stressed at the same place as those that the voices were trained with, in 98 % of the words", () => {
    let [same, count] = [0, 0];
    for (const [text = "", , yardstick = ""] of goldenRows("it-sentences.tsv")) {
      const ours = words(read(text).phonemes);
      const theirs = words(yardstick);
      assert.equal(ours.length, theirs.length, text);
      for (const [at, word] of theirs.entries()) {
        if (!word.includes("ˈ") || !ours[at]!.includes("ˈ")) continue;
        count++;
        same += consonantsAfterStress(word) === consonantsAfterStress(ours[at]!) ? 1 : 0;
      }
    }
    assert.ok(same / count >= 0.98, `${same} of ${count}`);
  });

  const CASES: readonly (readonly [text: string, phonemes: string])[] = [
    // What users of other servers reported.
    ["inoltre, sono lo Scettico e l'umorismo tagliente", "inˈoltre, sˌono lo ʃˈɛtːiko e lʊmorˈizmo taʎˈɛnte"],
    ["perche\u0301 citta\u0300, perche' citta'", "perkˈe ʧitːˈa, perkˈe ʧitːˈa"],
    // Stress by endings, lists, and the forms of verbs.
    ["fotografia, psicologo, ventesimo, lunghissime", "fotoɡrafˈia, psikˈɔloɡo, ventˈezimo, lʊŋɡˈiSime"],
    ["abitano, lavorano, prendono, finirono, dissero", "ˈabitano, lavˈorano, prˈɛndono, finˈirono, dˈiSero"],
    ["metterla, vederlo, dicendoglielo, chiamatemi", "mˈetːerla, vedˈerlo, diʧˈɛndoʎelo, kjamˈatemɪ"],
    ["farmacia, storia, aiuto, paura, buio, zio", "farmaʧˈia, stˈɔria, ajˈuto, paˈura, bˈuio, ʦˈio"],
    ["ventisette, centodue, trentatré", "ventisˈɛtːe, ʧentodˈue, trentatrˈe"],
    // Open and closed vowels.
    ["bene, sera, otto, sole, bello, capello", "bˈɛne, sˈera, ˈɔtːo, sˈole, bˈɛllo, kapˈello"],
    ["professore, felicità, problema, esercizio", "profeSˈore, feliʧitˈa, problˈɛma, ezerʧˈiʦio"],
    // Spelling.
    ["gli gnocchi, scienza, chiesa, giacca, acqua", "ʎɪ ɲˈɔkːɪ, ʃˈɛnʦa, kjˈɛza, ʤˈakːa, ˈakːwa"],
    ["casa, cassa, sbaglio, pizza, zero, organizzare", "kˈaza, kˈaSa, zbˈaʎo, pˈiʦːa, ʣˈɛro, orɡaniʣːˈare"],
    ["dov'è, cos'è, un po' d'acqua, c'è me", "dovˈɛ, kozˈɛ, ʊn pˈɔ dˈakːwa, ʧe mˈe"],
    // Loan words.
    [
      "il rock, un computer, lo smartphone, la password",
      "il rˈɔk, ʊn kompjˈuter, lo smˈartfˌon, la pˈɛswˌɛrd",
    ],
    ["dell'altro per tutti, all'estero", "dellˈaltro per tˈutːɪ, allˈɛstero"],
    // Marks, scripts and given words.
    ["«Sì», disse — ecco!", "“sˈi”, dˈiSe — ˈɛkːo!"],
    ["Il 日本 e Łódź", "il e lˈodʦ"],
    ["La parola \ue000.", "la parˈɔla ʤˈiŋɡo."],
  ];
  for (const [text, phonemes] of CASES)
    it(`of "${text}" are "${phonemes}"`, () => assert.equal(read(text).phonemes, phonemes));

  it("are of the alphabet that the voices know", () => {
    for (const [text = ""] of [...goldenRows("it-sentences.tsv"), ...goldenRows("it-readings.tsv")])
      for (const symbol of read(text).phonemes.replace(/[;:,.!?—…()“”"]/g, ""))
        assert.ok(ITALIAN.alphabet.symbols.has(symbol), `${symbol} in ${text}`);
  });
});

describe("the places of Italian words", () => {
  it("lead from phonemes to what was written, also where words were put for digits", () => {
    const text = "Il 25/12/2024 l'Ing. Rossi pagò 12,50 €.";
    const places = placesOf(text, read(text));
    const date = Array<string>(3).fill("25/12/2024");
    const price = Array<string>(4).fill("12,50 €");
    assert.deepEqual(places, ["Il", ...date, "l'Ing.", "Rossi", "pagò", ...price]);
  });
});

describe("the list of Italian words", () => {
  it("has one accent in each entry, and no entry twice", () => {
    const text = readFileSync(join(TOP, "lexicon/italian.txt"), "utf8");
    const entries = text.split("\n").filter((line) => !line.startsWith("#"));
    const seen = new Set<string>();
    for (const entry of entries.join(" ").split(/ +/).filter(Boolean)) {
      assert.match(entry, /^(?:´[a-z]+|-?[a-z]*[àèéìòóù][a-z]*-?)$/);
      assert.ok(!seen.has(entry), entry);
      seen.add(entry);
    }
  });

  it("gives forms: genders, numbers and persons", () => {
    const table = parseStressTable("# no entry: àlto\nmèdico àmbito òrdin- uffìcio ´olo");
    const given = [
      "medica",
      "mediche",
      "medici",
      "ordinano",
      "ordini",
      "uffici",
      "scivolo",
      "alto",
      "casale",
    ];
    assert.deepEqual(
      given.map((word) => table.accented(word)),
      ["mèdica", "mèdiche", "mèdici", "òrdinano", "òrdini", "uffìci", "scìvolo", "àlto", "casàle"],
    );
  });

  it("is named where it is missing", async () => {
    await assert.rejects(loadStressTable(join(TOP, "lexicon/none.txt")), /none\.txt cannot be read/);
  });
});

describe("Italian sentences", () => {
  it("go on after titles, initials and abbreviations before numbers", () => {
    for (const text of ["Il Sig.| Rossi", "G.| Verdi", "a pag.| 7", "la Prof.ssa.| Neri", "p. es.| Roma"])
      assert.ok(goesOn(ITALIAN, text), text);
  });
  it("end after other words, and after what may be last", () => {
    for (const text of ["È venuto ieri.| Rossi", "mele, ecc.| Poi", "nel 44 a.C.| Poi", "vedi pag.| Poi"])
      assert.ok(!goesOn(ITALIAN, text), text);
  });

  const QUESTIONS = {
    open: [
      "Che ore sono?",
      "Dov'è la stazione?",
      "E tu, di dove sei?",
      "Scusi, quanto costa?",
      "Ma perché no?",
    ],
    "yes-no": ["Vieni domani?", "Sai che ore sono?", "Vieni, vero?", "Vieni o no?"],
    choice: ["Preferisci tè o caffè?", "Resti oppure parti?"],
  } as const;
  for (const [kind, questions] of Object.entries(QUESTIONS))
    it(`ask ${kind} questions`, () => {
      for (const text of questions) assert.equal(ITALIAN.question(text), kind, text);
    });
  it("place the last alternative", () => {
    assert.equal(ITALIAN.choiceAt(["preferisci", "tè", "o", "caffè"]), 2);
    assert.equal(ITALIAN.choiceAt(["vieni", "o", "no"]), -1);
  });
});

function words(phonemes: string): string[] {
  return phonemes.split(/[\s;:,.!?—…()“”"]+/).filter((word) => word !== "");
}

/** Counts consonants from the stress on, each length once, which places the stress whatever the vowels are. */
function consonantsAfterStress(word: string): number {
  return word
    .slice(word.indexOf("ˈ"))
    .replace(/rɾ|(.)\1/g, "n")
    .replace(/[^bdfklmnprstvzʃʧʤʎɲʦʣɡŋS]/g, "").length;
}
