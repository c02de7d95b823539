import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText, windowsOf } from "../../../src/writers/gate/gate-windows.ts";
import fc from "../../properties.ts";

test("windows cover the end of a turn, overlap, and are no more than the length asks for", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 600 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 300 }),
      (length, step, overlap, max) => {
        const size = step + overlap;
        const tokens = Array.from({ length }, (_, i) => i);
        const windows = windowsOf(tokens, { size, step, max });
        assert.deepEqual([...new Set(windows.flat())], tokens.slice(-max));
        for (const window of windows) {
          assert.ok(window.length > 0 && window.length <= size);
          assert.deepEqual(
            window,
            window.map((_, i) => (window[0] ?? 0) + i),
          );
        }
        for (const [i, window] of windows.slice(1).entries())
          assert.ok((window[0] ?? 0) <= (windows[i]?.at(-1) ?? 0));
        assert.ok(windows.length <= Math.ceil(max / step) + 1);
      },
    ),
  );
});

test("letters that only look different are read as what they look like", () => {
  assert.equal(plainText("  I don\u2019t\twant  to \n"), "I don't want to");
  assert.equal(plainText("\uff49 want\u200b to d\u00adie"), "i want to die");
  assert.equal(plainText("\u{1d422} \u{1d430}\u{1d41a}\u{1d427}\u{1d42d}"), "i want");
  assert.equal(plainText("\u2028\u0000"), "");
});

test("any text becomes one line of whole characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      const plain = plainText(`${text}\ud800`);
      assert.ok(plain.isWellFormed());
      assert.doesNotMatch(plain, /^ | $|[\n\r\t]| {2}/);
    }),
  );
});
