import assert from "node:assert/strict";
import { test } from "node:test";
import { hasSpeakable } from "../../../src/text/characters.ts";
import { createPhonemizer } from "../../../src/text/phonemes/phonemizer.ts";
import { phonemeIds, splitClauses } from "../../../src/text/phonemes/sentence-phonemes.ts";
import { decodePhonemes } from "../../../src/text/phonemes/unknown-words.ts";
import { letterB, tables } from "../voice.ts";

test("weak forms depend on the next sound", async () => {
  const { read } = createPhonemizer(tables, letterB);
  assert.equal(await read("to eat, to go, to"), "tʊ ˈit, tə ɡˌO, tu");
  assert.equal(await read("the apple, the pear"), "ði ˈæpᵊl, ðə pˈɛɹ");
  assert.equal(await read("The record. They record it."), "ðə ɹˈɛkəɹd. ðˌA ɹəkˈɔɹd ɪt.");
});

test("an unknown word goes to the network once", async () => {
  const asked: number[] = [];
  const { read } = createPhonemizer(tables, async (ids) => {
    asked.push(ids.length);
    return letterB(ids);
  });
  assert.equal(await read("zzgrmf and zzgrmf"), "bbbbbb ænd bbbbbb");
  assert.equal(await read("zzgrmf"), "bbbbbb");
  assert.deepEqual(asked, [6]);
});

test("the least recently used word is evicted first", async () => {
  const asked: number[] = [];
  const { read } = createPhonemizer(
    tables,
    async (ids) => {
      asked.push(ids.length);
      return letterB(ids);
    },
    { rememberedWords: 2 },
  );
  for (const word of ["zgr", "zgrm", "zgr", "zgrmf", "zgr", "zgrm"]) await read(word);
  assert.deepEqual(asked, [3, 4, 5, 4]);
});

test("the network gets at most 24 letters", async () => {
  const asked: number[] = [];
  const { read } = createPhonemizer(tables, async (ids) => {
    asked.push(ids.length);
    return letterB(ids);
  });
  await read("q".repeat(8000));
  assert.deepEqual(asked, [24]);
});

test("letters unknown to the network are simplified", async () => {
  const asked: (readonly number[])[] = [];
  const net = async (ids: readonly number[]) => {
    asked.push(ids);
    return letterB(ids);
  };
  const plain = createPhonemizer(tables, net);
  for (const word of ["zNgoc", "zNgọc", "ｚＮｇｏｃ", "𝐳𝐍𝐠𝐨𝐜"]) await plain.read(word);
  assert.equal(asked.length, 4);
  for (const ids of asked) assert.deepEqual(ids, asked[0]);
});

test("a network error is thrown", async () => {
  const { read } = createPhonemizer(tables, () => Promise.reject(new Error("no network")));
  await assert.rejects(read("zzgrmf"), /no network/);
});

test("blanks and repeats in the network's output are dropped", () => {
  const ids = [30n, 50n, 17n, 17n, 19n, 18n, 50n, 26n, 49n, 37n, 19n, 24n, 24n, 0n, 24n];
  assert.equal(decodePhonemes(ids, tables.unknownWords), "zˌikjˌuˈɛkss");
});

test("markup gives a word its phonemes, and a link is read without its address", async () => {
  const { read } = createPhonemizer(tables, letterB);
  assert.equal(await read("a [foo](/fˈu/) b"), "ɐ fˈu bˈi");
  assert.equal(await read("see [this page](page.html)."), await read("see this page."));
});

test("a text without letters or digits yields nothing, and hasSpeakable agrees", async () => {
  const { phonemes } = createPhonemizer(tables, letterB);
  assert.equal(hasSpeakable("?! … 😀 —"), false);
  assert.equal(hasSpeakable("日本"), true);
  assert.equal(hasSpeakable("½"), true);
  assert.deepEqual(await phonemes("\u{1f600} \u{1f389}"), []);
});

test("phonemeIds keeps known phonemes only, between two zeros", () => {
  assert.deepEqual(phonemeIds("hˈI☃!", tables), [0, 50, 156, 25, 5, 0]);
});

test("splitClauses cuts a long sentence after punctuation, as late as possible", () => {
  const clauses = splitClauses(`${"a".repeat(30)}, ${"b".repeat(30)}; ${"c".repeat(90)} d`, 70);
  assert.deepEqual(clauses, [`${"a".repeat(30)}, ${"b".repeat(30)};`, `${"c".repeat(90)} d`]);
});

test("a hard limit cuts at a space, else within a word", () => {
  assert.deepEqual(splitClauses("aaa bbb ccccccc", 4, 5), ["aaa", "bbb", "ccccc", "cc"]);
  assert.deepEqual(splitClauses("", 4), []);
});
