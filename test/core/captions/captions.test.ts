import assert from "node:assert/strict";
import { test } from "node:test";
import { dialogueCues, timeStamp, toSrt, toVtt } from "../../../src/core/captions/captions.ts";
import fc from "../../properties.ts";

test("a time has hours, minutes, seconds and milliseconds", () => {
  const times: [number, string][] = [
    [0, "00:00:00,000"],
    [-0.2, "00:00:00,000"],
    [1.0004, "00:00:01,000"],
    [59.9996, "00:01:00,000"],
    [3_599.9999, "01:00:00,000"],
    [3_661.5, "01:01:01,500"],
    [100 * 3_600 + 0.001, "100:00:00,001"],
  ];
  for (const [seconds, stamp] of times) {
    assert.equal(timeStamp(seconds, ","), stamp);
    assert.equal(timeStamp(seconds, "."), stamp.replace(",", "."));
  }
});

test("no captions still give a file", () => {
  assert.equal(toSrt([]), "");
  assert.equal(toVtt([]), "WEBVTT\n\n");
});

test("caption text has no empty line and no WebVTT markup", () => {
  const captions = [{ start: 0, end: 1, text: "a\n\n\r\n b --> <c> & d\u2028" }];
  assert.equal(toSrt(captions), "1\n00:00:00,000 --> 00:00:01,000\na\nb --> <c> & d\n\n");
  assert.equal(toVtt(captions), "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na\nb --&gt; &lt;c&gt; &amp; d\n\n");
});

test("there is a caption per segment, and each reads back as written", () => {
  const caption = fc.record({
    start: fc.double({ min: 0, max: 500_000, noNaN: true }),
    end: fc.double({ min: 0, max: 500_000, noNaN: true }),
    text: fc.string({ unit: "binary" }),
  });
  fc.assert(
    fc.property(fc.array(caption, { maxLength: 5 }), (captions) => {
      const cues = toVtt(captions).slice("WEBVTT\n\n".length).split("\n\n").slice(0, -1);
      assert.equal(cues.length, captions.length);
      for (const [at, cue] of cues.entries()) {
        const [times = "", ...lines] = cue.split("\n");
        assert.match(times, /^\d{2,}:\d\d:\d\d\.\d{3} --> \d{2,}:\d\d:\d\d\.\d{3}$/);
        const read = lines.join(" ").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
        assert.equal(read.replaceAll(/\s+/g, " ").trim(), captions[at]!.text.replaceAll(/\s+/g, " ").trim());
        assert.ok(!lines.join("\n").includes("-->"));
      }
      const numbers = toSrt(captions)
        .split("\n\n")
        .slice(0, -1)
        .map((cue) => Number(cue.split("\n")[0]));
      assert.deepEqual(
        numbers,
        captions.map((_, at) => at + 1),
      );
    }),
  );
});

test("captions of a dialogue have one speaker each, without names and directions in their text", () => {
  const script = "Anna: One & two.\nBen <b> (sad): Three.";
  const lines = [
    { speaker: "Anna", offset: 6, length: 10 },
    { speaker: "Ben <b>", offset: 32, length: 6 },
  ];
  const word = (offset: number, length: number, start: number, line: number) => ({
    offset,
    length,
    start,
    end: start + 0.5,
    line,
  });
  const words = [word(6, 3, 0, 0), word(12, 3, 1, 0), word(32, 5, 2, 1)];
  const cues = dialogueCues(words, script, lines);
  assert.equal(
    toVtt(cues),
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n<v Anna>One &amp; two.\n\n00:00:02.000 --> 00:00:02.500\n<v Ben &lt;b&gt;>Three.\n\n",
  );
  assert.match(toSrt(cues), /\nAnna: One & two\.\n.*\nBen <b>: Three\.\n/s);
});
