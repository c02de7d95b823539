import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readGivenPhonemes } from "../../src/text/given-phonemes.ts";
import { inlineFault } from "../../src/text/inline-phonemes.ts";
import { createOwnWords, faultOf } from "../../src/text/own-words.ts";
import { createPhonemizer } from "../../src/text/phonemizer.ts";
import { parsePronunciations } from "../../src/text/pronunciations.ts";
import { letterB, tables } from "./voice.ts";

const { read, phonemes } = createPhonemizer(tables, letterB);
const own = createOwnWords([
  ["gizmo", "/ʤˈizmO/"],
  ["GIZ", "/ʤˈiz/"],
  ["C++", "see plus plus"],
  ["New Foo", "/nˌu fˈu/"],
  ["foo", "food"],
  ["SQL", "sequel"],
  ["müsli", "/mˈusli/"],
]);
const say = (sentence: string) => read(sentence, [own]);

describe("a user's word", () => {
  it("is said as its phonemes or read as its respelling", async () => {
    assert.equal(await say("A gizmo for SQL."), await read("A [x](/ʤˈizmO/) for sequel."));
    assert.match(await say("A gizmo for SQL."), /^ɐ ʤˈizmO fɔɹ sˈikwəl\.$/);
  });

  it("is meant in any case when it is in small letters, and as it is written when it is not", async () => {
    assert.equal(await say("Gizmo GIZMO"), "ʤˈizmO ʤˈizmO");
    assert.equal(await say("GIZ"), "ʤˈiz");
    assert.notEqual(await say("giz"), "ʤˈiz");
  });

  it("is a whole word, perhaps with marks beside it, and the longest of several", async () => {
    assert.equal(await say("(gizmo), gizmo!"), "(ʤˈizmO), ʤˈizmO!");
    assert.doesNotMatch(await say("gizmology agizmo"), /ʤˈizmO/);
    assert.equal(await say("New Foo"), "nˌu fˈu");
    assert.equal(await say("C++ and C"), await read("see plus plus and C"));
  });

  it("has its possessive, and decides how the words before it are read", async () => {
    assert.equal(await say("the gizmo's end"), "ðə ʤˈizmOz ˈɛnd");
    assert.equal(await read("the x", [createOwnWords([["x", "/ˈæks/"]])]), "ði ˈæks");
  });

  it("is found whichever way its accents and apostrophes are encoded", async () => {
    assert.equal(await say("mu\u0308sli"), "mˈusli");
    const quote = createOwnWords([["rock'n'roll", "/ɹˈɑkənɹˈOl/"]]);
    assert.equal(await read("rock’n’roll", [quote]), "ɹˈɑkənɹˈOl");
  });

  it("comes before the dictionary, and those of the first list before those of the second", async () => {
    const second = createOwnWords([
      ["gizmo", "/fˈu/"],
      ["bass", "/bˈu/"],
    ]);
    assert.equal(await read("gizmo bass", [own, second]), "ʤˈizmO bˈu");
  });

  it("is refused with what is wrong with it", () => {
    for (const [word, said, fault] of [
      ["", "x", { of: "word", why: "has no letter or digit" }],
      [" a", "x", { of: "word", why: "begins or ends with a space" }],
      ["a".repeat(65), "x", { of: "word", why: "has more than 64 characters" }],
      ["[a]", "x", { of: "word", why: "has a bracket or a control character" }],
      ["a", "", { of: "said", why: "has no letter or digit" }],
      ["a", "x".repeat(201), { of: "said", why: "has more than 200 characters" }],
      ["a", "/x", { of: "said", why: "begins with a slash and does not end with one" }],
      ["a", "/fˈ1u/", { of: "said", why: "character 4 is no phoneme that this voice has" }],
      ["a", "/ˈ/", { of: "said", why: "character 2 begins no sound" }],
      ["a", "/fˈu/", null],
      ["a", "ay", null],
    ] as const) {
      assert.deepEqual(faultOf([word, said]), fault, `${word} ${said}`);
    }
  });
});

describe("phonemes in the text", () => {
  it("are said instead of their word, wherever it stands", async () => {
    assert.equal(await read("[Kubernetes](/kˌubɚnˈɛTiz/)'s API"), "kˌubəɹnˈɛTizᵻz ˌApˌiˈI");
    assert.equal(await read("the [x](/ˈæks/), and [a b](/fˈu/)!"), "ði ˈæks, ænd fˈu!");
    assert.deepEqual(await phonemes("Say [St. Foo](/sˈAnt fˈu/) now. Yes."), ["sˈA sˈAnt fˈu nˈW.", "jˈɛs."]);
  });

  it("are not what an address is", async () => {
    for (const address of ["/about/", "/docs/page/", "https://a.example/", "/", "/ʃop/x/"]) {
      assert.equal(await read(`See [this page](${address}) now.`), await read("See this page now."), address);
      assert.equal(inlineFault(`See [this page](${address}) now.`), null);
    }
  });

  it("are no reason to read the words of an address otherwise than any others", async () => {
    const plain = await read("See rule v3.1 at 10 kg now.");
    for (const address of ["/rules/", "/rules", "/a/b/", "https://a.example/"]) {
      assert.equal(await read(`See [rule v3.1 at 10 kg](${address}) now.`), plain, address);
    }
  });

  it("may be in the usual alphabet", () => {
    for (const [ipa, own] of [
      ["ˈtʃɔɪs", "ˈʧYs"],
      ["ɹəʊˈdeɪoʊ", "ɹOˈdAO"],
      ["ˈɡuː.ɡəl", "ˈɡuɡəl"],
      ["grˈaʊnd", "ɡɹˈWnd"],
    ] as const) {
      assert.deepEqual(readGivenPhonemes(ipa), { phonemes: own });
    }
  });

  it("are refused with the place, in characters, of the first that is none", () => {
    assert.equal(inlineFault("plain text"), null);
    assert.equal(inlineFault("a [b](/bˈi/) c"), null);
    const { at, why } = inlineFault("🎉 [b](/bˈi/) [c](/sˈ9/)")!;
    assert.equal(Array.from("🎉 [b](/bˈi/) [c](/sˈ9/)")[at - 1], "9");
    assert.equal(why, "is no phoneme that this voice has");
  });

  it("do no harm where they were written wrong and cannot be refused", async () => {
    assert.equal(await read("a [sea](/sˈ9/) c"), await read("a sea c"));
  });
});

describe("any text", () => {
  it("is read with users' words, and as without where none of them is in it", async () => {
    const none = createOwnWords([["qqqqq", "/fˈu/"]]);
    const text = fc.string({ unit: "grapheme-composite", maxLength: 60 });
    const piece = fc.constantFrom("gizmo", "[", "](/", "/)", "ˈ", "\ue000", " ", "'s", "C++", "New Foo");
    const mixed = fc.array(fc.oneof(text, piece), { maxLength: 12 }).map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(mixed, async (sentence) => {
        assert.equal(typeof (await say(sentence)), "string");
        const composed = sentence.normalize("NFC").replace(/[\ue000-\uf8ff]/g, "");
        assert.equal(await read(composed, [none]), await read(composed));
      }),
      { numRuns: 300 },
    );
  });

  it("takes time in proportion to its length, also with many brackets", async () => {
    for (const part of ["[", "[](/", "[a](/ˈ", "](/", "[a](/ˈa/)"]) {
      assert.equal(typeof inlineFault(part.repeat(20_000)), "object");
    }
  });
});

describe("a list of words", () => {
  it("has a line a word, comments and empty lines, and any kind of line end", () => {
    const words = parsePronunciations("\ufeff# mine\r\n\r\nfoo\t/fˈu/\r\nSQL\tsequel\r\n", "x.tsv");
    assert.deepEqual(words, [
      ["foo", "/fˈu/"],
      ["SQL", "sequel"],
    ]);
  });

  it("is refused by file and line", () => {
    for (const [text, where] of [
      ["foo /fˈu/", "x.tsv, line 1: write the word, one tab, and its /phonemes/ or a respelling"],
      ["# c\na\tb\tc", "x.tsv, line 2: write the word, one tab, and its /phonemes/ or a respelling"],
      ["foo\t/f9/", "x.tsv, line 1: what is said character 3 is no phoneme that this voice has"],
      ["!\tfoo", "x.tsv, line 1: the word has no letter or digit"],
      ["\n".repeat(10_000), "x.tsv has more than 10000 lines"],
    ] as const) {
      assert.throws(() => parsePronunciations(text, "x.tsv"), { message: where });
    }
  });
});
