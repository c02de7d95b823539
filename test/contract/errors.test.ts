import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldLabel, quoted } from "../../src/contract/errors.ts";
import fc from "../properties.ts";
import { anyText } from "./any-text.ts";

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

test("quoted() keeps words of every script", () => {
  for (const word of ["", "svc-beta", "père", "おはよう", "🙂", "a b"])
    assert.equal(quoted(word), `"${word}"`);
});

test("quoted() escapes invisible and bidirectional characters", () => {
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

test("quoted() fits one visible line and parses back to the word's beginning", () => {
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

test("quoted() cuts a long word between characters", () => {
  assert.equal(quoted("x".repeat(60_000)), `"${"x".repeat(64)}…"`);
  assert.equal(quoted(`${"x".repeat(63)}🙂🙂`), `"${"x".repeat(63)}…"`);
  assert.equal(quoted("🙂".repeat(33)), `"${"🙂".repeat(32)}…"`);
});

test("fieldLabel() quotes only unusual names", () => {
  for (const name of ["model", "include[]", "known_speaker_names[]", "a.b-c_1"])
    assert.equal(fieldLabel(name), name);
  for (const name of ["", "1", "a b", "a\n", "file is fine. x", "x".repeat(65), "mode\u202el"])
    assert.equal(fieldLabel(name), quoted(name));
});
