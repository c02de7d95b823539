import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SPANISH } from "../../../src/text/languages/es/spanish.ts";
import { RewrittenText } from "../../../src/text/rewritten-text.ts";
import { createReader, goesOn, goldenRows, placesOf } from "./reading.ts";

const read = createReader(SPANISH, "ɡˈɾiŋɡo");

describe("Spanish text in words", () => {
  for (const [text = "", words] of goldenRows("es-readings.tsv"))
    it(`"${text}" is "${words}"`, () => assert.equal(SPANISH.normalise(RewrittenText.of(text)).text, words));
});

describe("Spanish phonemes", () => {
  it("equal those that the voices were trained with in 99.5 % of 20 sentences", () => {
    let [differing, count] = [0, 0];
    for (const [text = "", phonemes = ""] of goldenRows("es-sentences.tsv")) {
      differing += distance(sounds(read(text).phonemes), sounds(phonemes));
      count += sounds(phonemes).length;
    }
    assert.ok(differing / count <= 0.005, `${differing} of ${count} differ`);
  });

  const CASES: readonly (readonly [text: string, phonemes: string])[] = [
    // What users of other servers reported.
    ["Hola, ¿qué tal?", "ˈola, ¿kˈe tˈal?"],
    ["zapato cena", "θapˈato θˈena"],
    [
      "Abre el browser y haz click en settings, es muy cool.",
      "ˈaβɾe el βɾˈWseɾ i ˈaθ klˈik en sˈetins, ˈes mˈuj kˈul.",
    ],
    ["man\u0303ana si\u0301", "maɲˈana sˈi"],
    // Loan words.
    ["software, Facebook, weekend", "sˈofɣweɾ, fˈeisβuk, wˈikˌend"],
    ["El rock y el jazz", "el rˈok i el ʝˈas"],
    ["leer, lee, creer, kilo, robot, Madrid", "leˈeɾ, lˈee, kɾeˈeɾ, kˈilo, roβˈot, maðɾˈid"],
    ["update, cloud, queen, picasso", "apðˈeit, klˈWd, kwˈin, pikˈaso"],
    // Stress.
    ["rápidamente, aumente", "rˈapiðamˈente, Wmˈɛnte"],
    ["cantáis, náutico", "kantˈais, nˈautˌiko"],
    ["patria, cliente, gorrión, ruido, Luis", "pˈatɾia, kliˈɛnte, ɡˌoriˈon, ruˈiðo, luˈis"],
    // Sounds beside others, also across words.
    ["un beso, con paz, un yogur", "ˈum bˈeso, kom pˈaθ, ˈun ʤoɣˈuɾ"],
    ["el influjo enfría la liebre", "el imflˈuxo emfɾˈia la liˈeβɾe"],
    ["verdad es; verdad, es", "beɾðˈað ˈes; beɾðˈad, ˈes"],
    ["no sé para qué; es para mi", "nˈo sˈe pˌaɾa kˈe; ˈes pˌaɾa mˈi"],
    ["un hueso, cacahuete, ahí, prohibir", "ˈun wˈeso, kˌakawˈete, aˈi, pɾˌoiβˈiɾ"],
    ["guerra, vergüenza, quien, exacto, psicología", "ɡˈera, beɾɣwˈɛnθa, kjˈen, eksˈakto, sˌikoloxˈia"],
    // Marks, scripts and given words.
    ["«Sí», dijo — ¡claro!", "“sˈi”, dˈixo — ¡klˈaɾo!"],
    ["El 日本 y π, São, Łódź", "el i pˈi, sˈao, lˈodθ"],
    ["La palabra \ue000.", "la palˈaβɾa ɡˈɾiŋɡo."],
  ];
  for (const [text, phonemes] of CASES)
    it(`of "${text}" are "${phonemes}"`, () => assert.equal(read(text).phonemes, phonemes));
});

describe("the places of Spanish words", () => {
  it("lead from phonemes to what was written, also where words were put for digits", () => {
    const text = "El 25/12/2024, el Sr. Paz pagó 12,50 €.";
    const places = placesOf(text, read(text));
    const date = Array<string>(7).fill("25/12/2024");
    assert.deepEqual(places, [
      "El",
      ...date,
      "el",
      "Sr.",
      "Paz",
      "pagó",
      ...Array<string>(4).fill("12,50 €"),
    ]);
  });
});

describe("Spanish sentences", () => {
  it("go on after titles, initials and abbreviations before numbers", () => {
    for (const text of ["El Sr.| García", "J.| Borges", "la pág.| 7", "(p. ej.| Madrid)", "Avda.| América"])
      assert.ok(goesOn(SPANISH, text), text);
  });
  it("end after other words, and after what may be last", () => {
    for (const text of [
      "Vino ayer.| García",
      "manzanas, etc.| Luego",
      "en EE. UU.| Luego",
      "ve la pág.| Luego",
    ])
      assert.ok(!goesOn(SPANISH, text), text);
  });

  const QUESTIONS = {
    open: [
      "¿Qué hora es?",
      "¿Por qué no vienes?",
      "Y tú, ¿de dónde eres?",
      "Como te llamas?",
      "¿Pero cuándo llega?",
    ],
    "yes-no": ["¿Vienes mañana?", "¿Sabes qué hora es?", "Vienes, ¿verdad?", "¿Vienes o no?", "¿Y tú?"],
    choice: ["¿Prefieres té o café?", "¿Uno u otro?"],
  } as const;
  for (const [kind, questions] of Object.entries(QUESTIONS))
    it(`ask ${kind} questions`, () => {
      for (const text of questions) assert.equal(SPANISH.question(text), kind, text);
    });
  it("place the last alternative", () => {
    assert.equal(SPANISH.choiceAt(["prefieres", "té", "o", "café"]), 2);
    assert.equal(SPANISH.choiceAt(["vienes", "o", "no"]), -1);
  });
});

function sounds(phonemes: string): string {
  return phonemes.replace(/[\s;:,.!?—…()"“”¿¡]/g, "");
}

/** Returns the Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row.at(-1)!;
}
