import assert from "node:assert/strict";
import { test } from "node:test";
import { timeStamp, toSrt, toVtt } from "../../../src/core/captions/captions.ts";
import fc from "../../properties.ts";

test("a time has two digits of hours, minutes and seconds, three of milliseconds, and the sign of its format", () => {
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

test("no caption is still a file", () => {
  assert.equal(toSrt([]), "");
  assert.equal(toVtt([]), "WEBVTT\n\n");
});

test("a caption's text has no empty line, which would end it, and in WebVTT no sign that means something", () => {
  const captions = [{ start: 0, end: 1, text: "a\n\n\r\n b --> <c> & d\u2028" }];
  assert.equal(toSrt(captions), "1\n00:00:00,000 --> 00:00:01,000\na\nb --> <c> & d\n\n");
  assert.equal(toVtt(captions), "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na\nb --&gt; &lt;c&gt; &amp; d\n\n");
});

test("whatever is said, there are as many captions as segments, and each reads back as it was said", () => {
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
