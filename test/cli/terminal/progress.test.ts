import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { describe, it } from "node:test";
import {
  clock,
  linesOn,
  pullProgress,
  reportSpeech,
  transcriptionProgress,
} from "../../../src/cli/terminal/progress.ts";
import type { PullEvent } from "../../../src/models/download/options.ts";

const TOTAL = 98_362_432;

const source = (doneBytes: number): PullEvent => ({
  kind: "source",
  file: "a.gguf",
  source: "huggingface.co",
  doneBytes,
  totalBytes: TOTAL,
});
const progress = (part: number): PullEvent => ({
  kind: "progress",
  doneBytes: Math.floor(part * TOTAL),
  totalBytes: TOTAL,
});
const placed: PullEvent = { kind: "placed", file: "a.gguf", path: "/x/a.gguf" };

function shown(
  show: (stream: PassThrough) => { observe(event: PullEvent): void },
  events: PullEvent[],
): string {
  const stream = new PassThrough();
  const { observe } = show(stream);
  for (const event of events) observe(event);
  return String(stream.read() ?? "");
}

describe("the progress of a pull", () => {
  it("has a line per tenth without a terminal", () => {
    const parts = Array.from({ length: 1_000 }, (_, i) => progress((i + 1) / 1_000));
    const lines = shown(linesOn, [source(0), ...parts, placed])
      .trimEnd()
      .split("\n");
    assert.equal(lines[0], "Fetching a.gguf (98.4 MB) from huggingface.co.");
    assert.deepEqual(
      lines.slice(1, -1).map((line) => line.split(" (")[0]),
      [...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((tenth) => `${tenth}0 %`)],
    );
    assert.equal(lines[5], "50 % (49.2 MB of 98.4 MB)");
    assert.equal(lines.at(-1), "a.gguf is complete, and its checksum is right.");
  });

  it("reports resumed downloads and errors", () => {
    const text = shown(linesOn, [
      { kind: "waiting", checkpoint: "qwen3-1.7b" },
      { kind: "damaged", problem: "/x/a.gguf has 12 bytes instead of 13" },
      source(0.43 * TOTAL),
      progress(0.45),
      { kind: "retry", source: "huggingface.co", problem: "it answers with status 503", delayMs: 500 },
      progress(0.51),
      { kind: "source-failed", source: "huggingface.co", problem: "it answers with status 404" },
    ]);
    assert.deepEqual(text.trimEnd().split("\n"), [
      "Another process is installing qwen3-1.7b: waiting for it.",
      "/x/a.gguf has 12 bytes instead of 13: it is fetched again.",
      "Fetching a.gguf (98.4 MB, of which 42.3 MB are here) from huggingface.co.",
      "huggingface.co: it answers with status 503; trying again in 0.5 s.",
      "50 % (50.2 MB of 98.4 MB)",
      "huggingface.co: it answers with status 404.",
    ]);
  });

  it("has a bar on a terminal, which is left clean", async () => {
    const terminal = Object.assign(new PassThrough(), {
      isTTY: true,
      columns: 100,
      cursorTo: () => true,
      clearLine: () => true,
    });
    const { observe, close } = await pullProgress(terminal);
    for (const event of [source(0), progress(0.25), progress(0.5), placed]) observe(event);
    close();
    observe(source(0));
    const text = String(terminal.read());
    assert.match(text, /Fetching a\.gguf \(98\.4 MB\) from huggingface\.co\.\n/);
    assert.match(text, /[█░]{10,} 25 % \| 24\.6 MB of 98\.4 MB \| /);
    assert.match(text, /a\.gguf is complete, and its checksum is right\.\n/);
    const shows = text.lastIndexOf("\x1B[?25h");
    assert.ok(shows > text.lastIndexOf("\x1B[?25l"), "the cursor is there again");
    assert.equal(text.split("Fetching").length, 2, "nothing is shown once it is closed");
  });
});

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

describe("the progress of a transcription", () => {
  it("has a bar on a terminal for a long one", async () => {
    const { stream, shown } = screen(true);
    const progress = await transcriptionProgress(7_200, stream);
    assert.match(shown(), /\b0:00 of 2:00:00/);
    progress.onProgress(1_830);
    // Closing shows the last progress, whatever the redraw rate.
    progress.close();
    assert.match(shown(), /25 % \| 30:30 of 2:00:00/);
  });

  it("has none elsewhere or for a short one", async () => {
    for (const [isTTY, durationS] of [
      [false, 7_200],
      [true, 20],
    ] as const) {
      const { stream, shown } = screen(isTTY);
      const progress = await transcriptionProgress(durationS, stream);
      progress.onProgress(10);
      progress.close();
      assert.equal(shown(), "");
    }
  });

  it("reports a written file with its length and the time taken, on a terminal", () => {
    const [terminal, pipe] = [screen(true), screen(false)];
    for (const { stream } of [terminal, pipe]) {
      reportSpeech(stream, "tea.wav", 4.24, performance.now());
      reportSpeech(stream, "book.mp3 in 3 files", 3_723, performance.now() - 61_000);
    }
    assert.equal(
      terminal.shown(),
      "Wrote tea.wav: 4.2 s of speech, in 0.0 s.\nWrote book.mp3 in 3 files: 1:02:03 of speech, in 1:01.\n",
    );
    assert.equal(pipe.shown(), "");
  });

  it("formats times as clocks do", () => {
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
