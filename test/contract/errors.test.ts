import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldLabel, quoted } from "../../src/contract/errors.ts";
import fc from "../properties.ts";
import { anyText } from "./any-text.ts";

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

test("a word is quoted as it is, whichever script it is in", () => {
  for (const word of ["", "svc-beta", "père", "おはよう", "🙂", "a b"])
    assert.equal(quoted(word), `"${word}"`);
});

test("what cannot be seen in a word, or would change how a message is seen, is escaped", () => {
  for (const [word, shown] of [
    ['"', '"\\""'],
    ["a\r\nb\u0000", '"a\\r\\nb\\u0000"'],
    ["\u007f\u009b31m", '"\\u007f\\u009b31m"'],
    ["\u202egpj.\u2066x\u200b", '"\\u202egpj.\\u2066x\\u200b"'],
    ["\u2028\u2029\ufeff", '"\\u2028\\u2029\\ufeff"'],
    ["\ud800x\udc00", '"\\ud800x\\udc00"'],
    ["\u{e0041}", '"\\udb40\\udc41"'],
  ] as const) {
    assert.equal(quoted(word), shown);
  }
});

test("whatever a word is, it is quoted on one visible line, and reads back to its own beginning", () => {
  fc.assert(
    fc.property(anyText(200), (word) => {
      const shown = quoted(word);
      assert.doesNotMatch(shown, UNSEEN);
      const read = JSON.parse(shown) as string;
      if (word.length <= 64) assert.equal(read, word);
      else assert.ok(read.endsWith("…") && word.startsWith(read.slice(0, -1)) && read.length >= 64);
    }),
  );
});

test("a long word is cut between characters, not within one", () => {
  assert.equal(quoted("x".repeat(60_000)), `"${"x".repeat(64)}…"`);
  assert.equal(quoted(`${"x".repeat(63)}🙂🙂`), `"${"x".repeat(63)}…"`);
  assert.equal(quoted("🙂".repeat(33)), `"${"🙂".repeat(32)}…"`);
});

test("a field's name needs no quotes where it could be any field's", () => {
  for (const name of ["model", "include[]", "known_speaker_names[]", "a.b-c_1"])
    assert.equal(fieldLabel(name), name);
  for (const name of ["", "1", "a b", "a\n", "file is fine. x", "x".repeat(65), "mode\u202el"])
    assert.equal(fieldLabel(name), quoted(name));
});
