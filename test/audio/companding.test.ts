import assert from "node:assert/strict";
import { test } from "node:test";
import { alaw, expandAlaw, expandMulaw, mulaw } from "../../src/audio/companding.ts";

for (const [name, compress, expand] of [
  ["µ-law", mulaw, expandMulaw],
  ["A-law", alaw, expandAlaw],
] as const) {
  test(`every code of ${name} is made of what it stands for`, () => {
    for (let code = 0; code < 256; code += 1) {
      const again = compress(expand(code));
      // µ-law has two codes for silence.
      if (expand(code) !== 0) assert.equal(again, code, `${code}: ${expand(code)}`);
    }
  });

  test(`${name} keeps a sample to a sixteenth of its level`, () => {
    for (let sample = -32_000; sample <= 32_000; sample += 37) {
      const error = Math.abs(expand(compress(sample)) - sample);
      assert.ok(error <= Math.max(9, Math.abs(sample) / 16), `${sample}: ${error}`);
    }
  });
}

test("the codes of G.711 that its tables name stand for what they say", () => {
  assert.deepEqual([0x00, 0x80, 0x7f, 0xff].map(expandMulaw), [-32_124, 32_124, -0, 0]);
  assert.deepEqual([0xd5, 0x55, 0xaa, 0x2a].map(expandAlaw), [8, -8, 32_256, -32_256]);
});
