import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TOP } from "../architecture/top.ts";
import { decoded } from "../audio/recordings/decoded.ts";

const FOLDER = join(TOP, "docs/samples");
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".mp3"));
const CONVERSATION = "conversation.mp3";
/** Seconds: what is held by voice, or said by everybody, is longer than a line and its answer. */
const MOST_S: Readonly<Record<string, number>> = { [CONVERSATION]: 25, "more-people.mp3": 16 };
const table = readFileSync(join(FOLDER, "README.md"), "utf8");

for (const file of files) {
  test(`docs/samples/${file} is unclipped speech, as long as its page says`, async () => {
    const { samples, sampleRateHz, durationS } = await decoded(readFileSync(join(FOLDER, file)), 30);
    const [, told] =
      new RegExp(`^\\| \\[${file}\\]\\(${file}\\) .* (\\d+\\.\\d) s \\|$`, "m").exec(table) ?? [];
    assert.ok(Math.abs(durationS - Number(told)) < 0.15, `${durationS} s, and ${told} in the page's table`);
    assert.ok(durationS > 2 && durationS < (MOST_S[file] ?? 6), `${durationS} s`);
    assert.equal(sampleRateHz, 24_000);
    const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    assert.ok(peak > 0.1 && peak < 0.95, `a peak of ${peak}`);
    const level = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
    assert.ok(level > 0.02, `an RMS of ${level} is no speech`);
  });
}

test("the samples are few and small", () => {
  const lines = files.filter((file) => file !== CONVERSATION);
  const bytes = lines.reduce((sum, file) => sum + readFileSync(join(FOLDER, file)).length, 0);
  assert.ok(lines.length >= 4 && lines.length <= 7, `${lines.length} samples`);
  assert.ok(bytes < 650_000, `${bytes} bytes`);
  assert.ok(readFileSync(join(FOLDER, CONVERSATION)).length < 400_000);
});
