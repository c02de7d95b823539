import assert from "node:assert/strict";
import { test } from "node:test";
import { AudioFormatError } from "../../src/audio/audio-format-error.ts";
import { base64DecodedBytes, decodeBase64Audio } from "../../src/audio/base64.ts";
import fc from "../properties.ts";

const bytes = fc.uint8Array({ maxLength: 300 });

test("decodes either alphabet, with and without padding", () => {
  fc.assert(
    fc.property(bytes, fc.constantFrom("base64", "base64url"), fc.boolean(), (raw, alphabet, strip) => {
      const text = Buffer.from(raw).toString(alphabet as BufferEncoding);
      const sent = strip ? text.replace(/=+$/, "") : text;
      assert.deepEqual(decodeBase64Audio(sent), raw);
      assert.equal(base64DecodedBytes(sent), raw.length);
    }),
  );
});

test("ignores ASCII white space", () => {
  const spaces = fc.array(fc.constantFrom("\n", "\r\n", " ", "\t", "\f", ""), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(bytes, spaces, (raw, gaps) => {
      const text = Buffer.from(raw).toString("base64");
      const broken = [...text].map((character, i) => character + gaps[i % gaps.length]).join("");
      assert.deepEqual(decodeBase64Audio(gaps[0] + broken), raw);
      assert.equal(base64DecodedBytes(gaps[0] + broken), raw.length);
    }),
  );
});

test("takes a data: prefix of any audio type", () => {
  for (const prefix of [
    "data:audio/wav;base64,",
    "DATA:Audio/X-WAV;BASE64,",
    "data:audio/vnd.wave;codecs=1;rate=24000;base64,",
    "\n data:audio/wav;base64,",
  ]) {
    assert.deepEqual(decodeBase64Audio(`${prefix}UklGRg==`), new Uint8Array(Buffer.from("RIFF")), prefix);
    assert.equal(base64DecodedBytes(`${prefix}UklGRg==`), 4, prefix);
  }
});

test("refuses any other data: prefix", () => {
  for (const prefix of [
    "data:,",
    "data:;base64,",
    "data:audio/wav,",
    "data:text/plain;base64,",
    "data:audio/wav;base64",
  ]) {
    assert.throws(
      () => decodeBase64Audio(`${prefix}UklGRg==`),
      /^AudioFormatError: undecodable audio: .*data: prefix/,
    );
    assert.doesNotThrow(() => base64DecodedBytes(`${prefix}UklGRg==`));
  }
});

test("refuses a foreign character, and names its place", () => {
  const other = fc
    .string({ unit: "binary", minLength: 1, maxLength: 1 })
    .filter((character) => !/^[A-Za-z0-9+/_=\t\n\f\r -]/.test(character));
  const place = fc.nat({ max: 40 });
  fc.assert(
    fc.property(place, other, fc.boolean(), (at, character, hasPrefix) => {
      const sent = "A".repeat(at) + character + "A".repeat(43 - at);
      const prefix = hasPrefix ? "data:audio/wav;base64," : "";
      assert.throws(
        () => decodeBase64Audio(prefix + sent),
        (error: unknown) =>
          error instanceof AudioFormatError && error.message.includes(`character ${prefix.length + at} `),
      );
    }),
  );
});

test("decodes or refuses random texts as a reference does", () => {
  const unit = fc.constantFrom(..."AZaz09+/-_==\n %é\u0141");
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 14 }), (text) => {
      const core = text.replace(/[\t\n\f\r ]/g, "");
      const valid = /^(?:[\w+/-]{4})*(?:[\w+/-]{2}(?:==)?|[\w+/-]{3}=?)?$/.test(core);
      if (valid) assert.deepEqual(decodeBase64Audio(text), new Uint8Array(Buffer.from(core, "base64")));
      else assert.throws(() => decodeBase64Audio(text), AudioFormatError);
    }),
    { numRuns: 5_000 },
  );
});

test("returns a transferable array", () => {
  const decoded = decodeBase64Audio("UklGRg==");
  assert.equal(decoded.buffer.byteLength, decoded.length);
});
