import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { clipSource } from "../../../src/core/audio-source.ts";
import { type Recogniser, RecogniserError, type Transcript } from "../../../src/core/recogniser.ts";
import { convertWhisper } from "../../../src/recognition/whisper/convert.ts";
import { openWhisper, type WhisperOptions } from "../../../src/recognition/whisper/open-whisper.ts";
import { until, within } from "../../waiting.ts";
import { clipOf } from "../clips.ts";
import { PLAIN, recogniserConformance } from "../conformance.ts";
import { temporaryFolder } from "../folders.ts";
import { writeTinyHub } from "./tiny-whisper.ts";

const [STARTS, GATE] = [0, 1];
const [DIES, HANGS, FAILS, HEARS] = [1, 2, 3, 16_000];
const never = new AbortController().signal;

async function withOdd(
  options: WhisperOptions,
  work: (recogniser: Recogniser, cells: Int32Array) => Promise<void>,
): Promise<void> {
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const startThread = () =>
    new Worker(new URL("./odd-thread.js", import.meta.url), { workerData: { cells } });
  const recogniser = await openWhisper("nowhere", { startThread, ...options });
  try {
    await work(recogniser, cells);
  } finally {
    Atomics.store(cells, GATE!, 1);
    Atomics.notify(cells, GATE!);
    await recogniser.close();
  }
}

const clip = (count: number) => clipOf(count / 16_000, () => 0.1);

describe("openWhisper", () => {
  test("fails the clip that kills its thread, and starts another thread", async () => {
    const failures: string[] = [];
    await withOdd({ onFailure: (message) => failures.push(message) }, async (recogniser, cells) => {
      const dying = recogniser.recognise(clipSource(clip(DIES!)), PLAIN, never);
      const waiting = recogniser.recognise(clipSource(clip(HEARS!)), PLAIN, never);
      await assert.rejects(
        dying,
        (thrown) => thrown instanceof RecogniserError && thrown.retryAfterMs !== null,
      );
      assert.equal((await waiting).text, "Well.");
      assert.equal(Atomics.load(cells, STARTS!), 2);
      assert.match(failures.join(), /the thread that hears died/);
    });
  });

  test("fails the clip that hangs its thread, and starts another thread", async () => {
    await withOdd({ deadlineMs: 700 }, async (recogniser) => {
      const hanging = recogniser.recognise(clipSource(clip(HANGS!)), PLAIN, never);
      await within("the failure", assert.rejects(hanging, RecogniserError));
      assert.equal((await recogniser.recognise(clipSource(clip(HEARS!)), PLAIN, never)).text, "Well.");
    });
  });

  test("keeps an inner error from clients, as the cause", async () => {
    await withOdd({}, async (recogniser) => {
      const failing = recogniser.recognise(clipSource(clip(FAILS!)), PLAIN, never);
      await assert.rejects(failing, (thrown) => {
        assert.ok(thrown instanceof RecogniserError);
        assert.doesNotMatch(thrown.message, /secret|said/);
        assert.match(String((thrown.cause as Error).message), /secret/);
        return true;
      });
    });
  });

  test("transcribes a short clip between two windows of a long one", async () => {
    await withOdd({}, async (recogniser) => {
      const ends: string[] = [];
      const long = recogniser
        .recognise(clipSource(clip(200 * 16_000)), PLAIN, never)
        .then(() => ends.push("long"));
      const short = recogniser
        .recognise(clipSource(clip(HEARS!)), PLAIN, never)
        .then(() => ends.push("short"));
      await within("both", Promise.all([long, short]));
      assert.deepEqual(ends, ["short", "long"]);
    });
  });

  test("takes ISO 639 codes, and rejects an unknown language", async () => {
    await withOdd({}, async (recogniser) => {
      const heard = await recogniser.recognise(clipSource(clip(HEARS!)), { ...PLAIN, language: "jv" }, never);
      assert.equal(heard.language, "jv");
      await recogniser.recognise(clipSource(clip(HEARS!)), { ...PLAIN, language: "en-GB" }, never);
      const unknown = recogniser.recognise(clipSource(clip(HEARS!)), { ...PLAIN, language: "tlh" }, never);
      await assert.rejects(unknown, (thrown) => {
        assert.ok(thrown instanceof RecogniserError && thrown.refused === "language");
        assert.match(thrown.message, /'tlh'. Leave `language` out, or give one of: en, jv\.$/);
        return true;
      });
    });
  });

  test("keeps the partial transcript of an aborted clip", async () => {
    await withOdd({}, async (recogniser) => {
      const controller = new AbortController();
      const long = clip(70 * 16_000);
      let kept = 0;
      const onPartial = ({ transcribedS: heardS }: Transcript): void => {
        kept = heardS;
        if (heardS > 30) controller.abort(new Error("gone"));
      };
      await assert.rejects(
        recogniser.recognise(clipSource(long), { ...PLAIN, onPartial }, controller.signal),
        /gone/,
      );
      assert.equal(kept, 60);
      const rest = await recogniser.recognise(clipSource(long), { ...PLAIN, startAtS: kept }, never);
      assert.deepEqual(
        rest.segments.map(({ startS }) => startS),
        [60],
      );
      assert.equal(rest.transcribedS, 70);
    });
  });

  test("throws an abort at once while another clip is under way", async () => {
    await withOdd({}, async (recogniser, cells) => {
      const first = recogniser.recognise(clipSource(clip(HANGS!)), PLAIN, never);
      const controller = new AbortController();
      const reason = new Error("gone");
      const second = recogniser.recognise(clipSource(clip(HEARS!)), PLAIN, controller.signal);
      controller.abort(reason);
      await assert.rejects(second, (thrown) => thrown === reason);
      await until("the thread to start", () => Atomics.load(cells, STARTS!) === 1);
      Atomics.store(cells, GATE!, 1);
      Atomics.notify(cells, GATE!);
      assert.equal((await first).text, "Well.");
    });
  });
});

const tinyFolder = temporaryFolder();
const tinyWhisper = join(tinyFolder, "made");
before(async () => {
  await writeTinyHub(join(tinyFolder, "hub"));
  await convertWhisper(join(tinyFolder, "hub"), tinyWhisper);
});

recogniserConformance("a tiny Whisper", () => openWhisper(tinyWhisper));
