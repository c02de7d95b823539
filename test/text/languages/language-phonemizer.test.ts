import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLanguagePhonemizer } from "../../../src/text/languages/language-phonemizer.ts";
import { accentOf } from "../../../src/text/languages/languages.ts";
import { createUserLexicon, lexiconEntryFault } from "../../../src/text/phonemes/user-lexicon.ts";
import { spokenSentences } from "../../../src/text/sentences/sentences.ts";
import { TINY } from "./tiny-language.ts";

const english = (word: string) => (word === "web" ? "wɛb" : null);

describe("a phonemizer of another language", () => {
  const { readWithSources } = createLanguagePhonemizer(TINY, english, [["bob", "/bˈot/"]]);
  const said = async (text: string) => (await readWithSources(text)).phonemes;

  test("reads by the language's rules, with English words by the dictionary", async () => {
    assert.equal(await said("Kata 12 web!"), "kata na wɛb!");
  });

  test("maps phonemes to the text as it was written", async () => {
    const { phonemes, sources } = await readWithSources("Kata 12 [web](/dˈe/) no");
    assert.equal(phonemes, "kata na dˈe no");
    assert.deepEqual(sources.of(4, 6), { from: 5, to: 7 });
    assert.deepEqual(sources.of(9, 11), { from: 21, to: 23 });
  });

  test("reads given phonemes in the language's alphabet, and unreadable ones as spelled", async () => {
    assert.equal(await said("[x](/arrˈa/) [ab](/θˈa/)"), "anˈa ab");
    const own = createUserLexicon([["kata", "/nˈo/"]], accentOf(TINY));
    assert.equal((await readWithSources("kata katas bob", [own])).phonemes, "nˈo katas bˈot");
  });

  test("composes letters with combining accents", async () => {
    assert.equal(await said("nin\u0303o"), "niño");
  });
});

test("lexiconEntryFault names the character that a language's alphabet lacks", () => {
  assert.equal(lexiconEntryFault(["kata", "/nˈo/"], accentOf(TINY)), null);
  assert.match(
    lexiconEntryFault(["kata", "/nˈɛ/"], accentOf(TINY)) ?? "",
    /^character 4 of what is said \("ɛ"\)/,
  );
});

test("spokenSentences splits by a language's abbreviations", () => {
  const sentences = (text: string) => spokenSentences(text, TINY.sentences).map((each) => each.text);
  assert.deepEqual(sentences("A tit. Bob is. Mr. Bob is"), ["A tit. Bob is.", "Mr.", "Bob is"]);
});
