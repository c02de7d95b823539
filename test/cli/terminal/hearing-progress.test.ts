import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { describe, it } from "node:test";
import { clock, hearingProgress } from "../../../src/cli/terminal/hearing-progress.ts";

/** Keeps what is written to it. */
function screen(isTTY: boolean) {
  let text = "";
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY, columns: 100 }), shown: () => text };
}

describe("the progress of hearing", () => {
  it("is a bar on a terminal, for what takes long", async () => {
    const { stream, shown } = screen(true);
    const progress = await hearingProgress(7_200, stream);
    assert.match(shown(), /\b0:00 of 2:00:00/);
    progress.onProgress(1_830);
    // Closing shows what was told last, whatever the rate at which the bar is drawn.
    progress.close();
    assert.match(shown(), /25 % \| 30:30 of 2:00:00/);
  });

  it("is nothing elsewhere, and for what is short", async () => {
    for (const [isTTY, durationS] of [
      [false, 7_200],
      [true, 20],
    ] as const) {
      const { stream, shown } = screen(isTTY);
      const progress = await hearingProgress(durationS, stream);
      progress.onProgress(10);
      progress.close();
      assert.equal(shown(), "");
    }
  });

  it("counts as clocks do", () => {
    assert.deepEqual([0, 59.9, 60, 3_599, 3_600, 36_061].map(clock), [
      "0:00",
      "0:59",
      "1:00",
      "59:59",
      "1:00:00",
      "10:01:01",
    ]);
  });
});
