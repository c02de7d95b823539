import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  LANGUAGE_NAMES,
  languageCode,
  languageName,
  OTHER_CODES,
  OTHER_NAMES,
} from "../../src/core/languages.ts";
import { languageCodeOf } from "../../src/recognition/read-transcript.ts";
import { isoLanguage, whisperLanguage } from "../../src/recognition/whisper/open-whisper.ts";

describe("a language", () => {
  test("is found by code, by code with region, and by name", () => {
    assert.equal(LANGUAGE_NAMES.size, 100);
    for (const [code, name] of LANGUAGE_NAMES) {
      assert.equal(languageCode(code), code);
      assert.equal(languageName(code), name);
      for (const said of [
        code,
        code.toUpperCase(),
        `${code}-XX`,
        `${code}_xx`,
        name,
        ` ${name.toUpperCase()} `,
      ])
        assert.equal(languageCodeOf(said), code, said);
    }
  });

  test("has one code", () => {
    for (const [said, code] of [...OTHER_CODES, ...OTHER_NAMES]) {
      assert.ok(LANGUAGE_NAMES.has(code), code);
      assert.equal(languageCodeOf(said), code, said);
    }
    for (const [said, code] of OTHER_CODES) {
      assert.equal(languageCode(said), code);
      assert.equal(languageName(said), LANGUAGE_NAMES.get(code));
    }
  });

  test("has the endpoint's name, or none", () => {
    const said = [
      "Irish",
      "ga",
      "ga-IE",
      "Bangla",
      "es-419",
      "zh-Hans-CN",
      "sr-Latn",
      "klingon",
      "tlh",
      "x",
      "",
    ];
    const codes = ["ga", "ga", "ga", "bn", "es", "zh", "sr", null, null, null, null];
    assert.deepEqual(said.map(languageCodeOf), codes);
  });

  test("has Whisper's name, and ISO's code", () => {
    const known = [...LANGUAGE_NAMES.keys()].map((code) => (code === "jv" ? "jw" : code));
    for (const code of [...LANGUAGE_NAMES.keys(), ...OTHER_CODES.keys()]) {
      for (const said of [code, code.toUpperCase(), `${code}-XX`]) {
        const name = whisperLanguage(said, known);
        assert.ok(name !== null && known.includes(name), said);
        assert.equal(isoLanguage(name), languageCode(code), said);
      }
    }
    assert.deepEqual(
      ["en-GB", "de", "tlh"].map((code) => whisperLanguage(code, [])),
      ["en", null, null],
    );
  });
});
