import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { detectOtherLanguage } from "../../src/text/other-language.ts";

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
  ["Selamat pagi, apa kabar Anda hari ini? Terima kasih, saya baik.", "Indonesian"],
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

test("detectOtherLanguage names the language or script", () => {
  assert.deepEqual(
    TEXTS.map(([text]) => [text, detectOtherLanguage(text)]),
    TEXTS,
  );
});

test("no English text of the goldens is detected as another language", () => {
  const named: string[] = [];
  for (const file of [
    "text/cases.jsonl",
    "text/british.jsonl",
    "readings/public.jsonl",
    "readings/own.jsonl",
  ]) {
    const lines = readFileSync(`test/golden/${file}`, "utf8").trimEnd().split("\n");
    const taken = lines.flatMap((line) => {
      const { text } = JSON.parse(line) as { text: string };
      const language = detectOtherLanguage(text);
      return language === null ? [] : [`${language}: ${text}`];
    });
    named.push(...taken);
  }
  assert.deepEqual(named, [
    "Cyrillic letters: Привет, world",
    "Arabic letters: مرحبا",
    "Greek letters: Ελληνικά",
  ]);
});

test("any text is accepted, and only the beginning of a long one is examined", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      detectOtherLanguage(text);
      assert.equal(detectOtherLanguage(`${"This is it. ".repeat(200)}${text}`), null);
    }),
  );
});
