import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Turn } from "../../../src/core/conversation.ts";
import { EmbeddedFollower, type FollowerOptions } from "../../../src/engines/embedded/following/follower.ts";
import { createVoices } from "../../../src/engines/embedded/speakers.ts";
import { analyseClip } from "../../../src/engines/following/analysis/voice-profile.ts";
import type { Work } from "../../../src/engines/following/analysis/work.ts";
import { analyseUntilEnough, referenceTurns } from "../../../src/engines/following/reference-turns.ts";
import { SharedCache } from "../../../src/engines/following/shared-cache.ts";
import { never } from "../../core/scripts.ts";
import { until } from "../../waiting.ts";
import { finish } from "./analysis/finish.ts";
import { noise } from "./analysis/signals.ts";

describe("SharedCache", () => {
  test("computes a value once for concurrent and later requests, and keeps the newest", async () => {
    const cache = new SharedCache<string>(2);
    const begun: string[] = [];
    const ask = (key: string) =>
      cache.get(key, never(), async () => {
        begun.push(key);
        return `found ${key}`;
      });
    assert.deepEqual(await Promise.all([ask("a"), ask("a"), ask("b")]), ["found a", "found a", "found b"]);
    await ask("a");
    await ask("c");
    await ask("a");
    await ask("b");
    assert.deepEqual(begun, ["a", "b", "c", "b"]);
  });

  test("aborts a computation when the last waiting request leaves", async () => {
    const cache = new SharedCache<string>(2);
    const stops: AbortSignal[] = [];
    const leavers = [new AbortController(), new AbortController()];
    const ask = (signal: AbortSignal) =>
      cache.get("a", signal, async (stop) => {
        stops.push(stop);
        await new Promise((resolve) => stop.addEventListener("abort", resolve));
        throw stop.reason;
      });
    const answers = leavers.map(({ signal }) => assert.rejects(ask(signal), /gone/));
    leavers[0]!.abort(new Error("gone"));
    await answers[0];
    assert.deepEqual(
      stops.map(({ aborted }) => aborted),
      [false],
    );
    leavers[1]!.abort(new Error("gone"));
    await answers[1];
    const late = new AbortController();
    const again = assert.rejects(ask(late.signal), /gone/);
    assert.deepEqual(
      stops.map(({ aborted }) => aborted),
      [true, false],
    );
    late.abort(new Error("gone"));
    await again;
  });

  test("fails all that wait, and computes again", async () => {
    const cache = new SharedCache<string>(2);
    let attempts = 0;
    const ask = () =>
      cache.get("a", never(), async () => {
        attempts += 1;
        await turn();
        if (attempts === 1) throw new Error("not now");
        return "found";
      });
    await Promise.all([assert.rejects(ask(), /not now/), assert.rejects(ask(), /not now/)]);
    assert.equal(await ask(), "found");
  });
});

describe("EmbeddedFollower's analysis", () => {
  const voices = createVoices();

  test("stops when no request waits, and restarts for the next", async () => {
    const { follower, steps } = followerOfNoise();
    const history = [turnOf(0, 30)];
    const leaving = new AbortController();
    const left = follower.cast({ history, speaker: "0" }, voices.get("0")!, "all", leaving.signal);
    await until("the analysis to begin", () => steps.done >= 5);
    leaving.abort(new Error("gone"));
    await assert.rejects(left, /gone/);
    for (let rounds = 0; rounds < 20; rounds++) await turn();
    assert.ok(steps.done <= 6, `${steps.done} steps`);
    const { followed } = await follower.cast({ history, speaker: "0" }, voices.get("0")!, "all");
    assert.deepEqual(followed?.followed, []);
    assert.ok(steps.done > 20, `${steps.done} steps`);
  });

  test("takes at most 90 s of the speaker's own clips, and one of another's", async () => {
    const turns = Array.from({ length: 63 }, (_, index) => turnOf(index, 3));
    const { own, other } = referenceTurns({ history: turns, speaker: "0" });
    assert.deepEqual([own.length, other?.index], [32, 61]);
    const [nothing] = [finish(analyseClip(turnOf(0, 1).audio!))];
    let listened = 0;
    await analyseUntilEnough(own, async () => {
      listened += 1;
      return nothing;
    });
    assert.equal(listened, 30);
    const { follower, steps } = followerOfNoise();
    await follower.cast({ history: turns, speaker: "0" }, voices.get("0")!, "all");
    assert.equal(steps.works, 31);
  });

  test("is cached for 64 clips", async () => {
    const { follower, steps } = followerOfNoise();
    const analyse = (index: number) =>
      follower.cast({ history: [turnOf(2 * index, 0.1)], speaker: "0" }, voices.get("0")!, "all");
    const atOnce = Array.from({ length: 65 }, (_, index) => index);
    await Promise.all([...atOnce.map(analyse), ...atOnce.map(analyse)]);
    assert.equal(steps.works, 65);
    const again = (index: number, preset: "all" | "pace") =>
      follower.cast({ history: [turnOf(2 * index, 0.1)], speaker: "0" }, voices.get("0")!, preset);
    await again(64, "pace");
    assert.equal(steps.works, 65, "the newest is cached");
    await again(0, "pace");
    assert.equal(steps.works, 66, "the oldest is not");
  });
});

/** A follower without a network that counts its steps. */
function followerOfNoise() {
  const steps = { works: 0, done: 0 };
  const unused = () => assert.fail("no network is needed");
  async function run<T>(work: Work<T>): Promise<T> {
    steps.works += 1;
    for (;;) {
      const step = work.next();
      if (step.done) return step.value;
      steps.done += 1;
      await turn();
    }
  }
  const parts = { network: { read: unused, intone: unused, decode: unused }, voices: createVoices(), run };
  return { follower: new EmbeddedFollower(parts as unknown as FollowerOptions), steps };
}

/** A turn of noise. Speaker 0 has the even ones. */
function turnOf(index: number, durationS: number): Turn {
  const samples = noise(24_000 * durationS, index + 1).map((value) => 0.1 * value);
  const audio = { samples, sampleRateHz: 24_000, durationS, digest: `noise ${index}` };
  return { speaker: String(index % 2), text: null, audio };
}
