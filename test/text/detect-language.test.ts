import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { detectLanguage, detectOtherLanguage } from "../../src/text/detect-language.ts";
import fc from "../properties.ts";

const TEXTS: readonly (readonly [string, string | null])[] = [
  ["Guten Morgen, wie geht es Ihnen heute?", "German"],
  ["Der Zug nach München fährt heute von Gleis sieben ab.", "German"],
  ["Bonjour, comment allez-vous aujourd'hui ?", "French"],
  ["Le train pour Lyon part à sept heures de la voie deux.", "French"],
  ["Hola, ¿cómo está usted hoy?", "Spanish"],
  ["El tren para Sevilla sale a las siete de la mañana.", "Spanish"],
  ["Buongiorno, come sta? Oggi il treno è in ritardo.", "Italian"],
  ["Olá, bom dia! O comboio para o Porto não parte hoje.", "Portuguese"],
  ["Goedemorgen, hoe gaat het met u vandaag?", "Dutch"],
  ["Dzień dobry, jak się pan dzisiaj ma?", "Polish"],
  ["Hej, hur mår du i dag? Tåget är inte här.", "Swedish"],
  ["Merhaba, bugün nasılsınız? Çok iyi, teşekkür ederim.", "Turkish"],
  ["Jó napot kívánok, hogy van ma? Köszönöm, jól.", "Hungarian"],
  ["Selamat pagi, apa kabar Anda hari ini? Terima kasih, saya baik.", "Malay"],
  ["Привет, как дела?", "Cyrillic letters"],
  ["今日はいい天気ですね。", "Japanese letters"],
  ["你好，今天天气很好。", "Chinese characters"],
  ["안녕하세요, 오늘 날씨가 좋네요.", "Korean letters"],
  ["مرحبا، كيف حالك اليوم؟", "Arabic letters"],
  ["Γεια σου, τι κάνεις;", "Greek letters"],
  ["", null],
  ["Hi.", null],
  ["She said “guten Morgen” and left.", null],
  ["The La Paz office of El País is on the Rue de la Paix.", null],
  ["El Niño, La Niña, and the Rio de la Plata.", null],
  ["Ludwig van Beethoven, Vincent van Gogh, Charles de Gaulle, Leonardo da Vinci", null],
  ["α and β decay", null],
  ["Мир means peace.", null],
];

test("detectLanguage names the language of short sentences, and none of what is too short or in another script", () => {
  const texts = {
    ...{ es: "Buenos días. ¿Qué hora es?", it: "Va bene. Che ore sono?", pt: "Bom dia, tudo bem?" },
    ...{ fr: "Bonjour, à demain.", de: "Heute leider nicht.", en: "Good morning." },
  };
  for (const [language, text] of Object.entries(texts)) assert.equal(detectLanguage(text), language, text);
  for (const text of ["", "Ok.", "1, 2, 3", "Привет, как дела?"])
    assert.equal(detectLanguage(text), null, text);
  for (const line of readFileSync("bench/harvard.txt", "utf8").trim().split("\n"))
    assert.equal(detectLanguage(line) ?? "en", "en", line);
});

test("detectOtherLanguage names the language or script", () => {
  for (const [text, language] of TEXTS) assert.equal(detectOtherLanguage(text), language, text);
});

test("no English text of the goldens is detected as another language", () => {
  const files = ["text/cases.jsonl", "text/british.jsonl", "readings/public.jsonl", "readings/own.jsonl"];
  const lines = files.flatMap((file) => readFileSync(`test/golden/${file}`, "utf8").trimEnd().split("\n"));
  const named = lines.flatMap(
    (line) => detectOtherLanguage((JSON.parse(line) as { text: string }).text) ?? [],
  );
  assert.deepEqual(named, ["Cyrillic letters", "Arabic letters", "Greek letters"]);
});

test("any text is accepted, and only the beginning of a long one is examined", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      detectOtherLanguage(text);
      detectLanguage(text);
      assert.equal(detectOtherLanguage(`${"This is it. ".repeat(200)}${text}`), null);
    }),
  );
});
