import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { StreamEvent } from "../../src/client/antiphon.ts";
import { Player, type PlayerOptions, SAMPLE_RATE_HZ } from "../../src/client/player.ts";
import fc from "../properties.ts";
import { FakeSound } from "./fake-audio-context.ts";

const FRAME_SAMPLES = 1_920;
const FRAME_S = FRAME_SAMPLES / SAMPLE_RATE_HZ;

/** Frames of which no sample is silent and each is told from its neighbours. */
const frames = (count: number): Int16Array<ArrayBuffer>[] =>
  Array.from({ length: count }, (_, frame) =>
    Int16Array.from({ length: FRAME_SAMPLES }, (_, i) => 1 + ((frame * FRAME_SAMPLES + i) % 32_000)),
  );
const joined = (pieces: readonly Int16Array[]) => Int16Array.from(pieces.flatMap((piece) => [...piece]));
const sounding = (heard: Int16Array) => heard.filter((sample) => sample !== 0);

function listening(options: PlayerOptions = {}) {
  const sound = new FakeSound();
  sound.goOn(1);
  const ends: number[] = [];
  const player = new Player({ context: sound, onEnd: () => ends.push(sound.currentTime), ...options });
  return { sound, player, ends };
}

test("frames that come at once are heard without a gap, 30 ms after the first, and the end is told once", () => {
  const { sound, player, ends } = listening();
  const all = frames(10);
  for (const frame of all) player.add(frame);
  player.complete();
  sound.goOn(2);
  const heard = sound.heard();
  const first = heard.findIndex((sample) => sample !== 0);
  assert.ok(first / SAMPLE_RATE_HZ - 1 < 0.036, `${first}`);
  assert.deepEqual(heard.subarray(first, first + 19_200), joined(all));
  assert.equal(sounding(heard).length, 19_200);
  assert.equal(ends.length, 1);
  assert.deepEqual([player.state, player.positionS, player.underruns], ["ended", 0.8, 0]);
});

test("frames that come in fits and starts, but in time, are heard without a gap", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 30 }),
      (waits) => {
        const { sound, player } = listening();
        let slackS = 0.02;
        const all = frames(waits.length);
        for (const [at, frame] of all.entries()) {
          player.add(frame);
          slackS += FRAME_S;
          const waitS = waits[at]! * (slackS - 0.01);
          sound.goOn(waitS);
          slackS -= Math.ceil((waitS * SAMPLE_RATE_HZ) / 128) * (128 / SAMPLE_RATE_HZ);
        }
        player.complete();
        sound.goOn(4);
        const heard = sound.heard();
        const first = heard.findIndex((sample) => sample !== 0);
        assert.deepEqual(heard.subarray(first, first + waits.length * FRAME_SAMPLES), joined(all));
        assert.equal(player.underruns, 0);
      },
    ),
  );
});

test("a frame that comes too late is heard whole, is counted, and gives the next ones more time", () => {
  const { sound, player } = listening();
  const all = frames(3);
  player.add(all[0]!);
  sound.goOn(0.5);
  player.add(all[1]!);
  const leadS = () => sound.heard().length / SAMPLE_RATE_HZ;
  const before = leadS();
  sound.goOn(0.5);
  player.add(all[2]!);
  player.complete();
  sound.goOn(0.5);
  assert.equal(player.underruns, 2);
  assert.deepEqual(sounding(sound.heard()), joined(all));
  const second = sound.heard().indexOf(all[1]![0]!) / SAMPLE_RATE_HZ;
  assert.ok(second - before >= 0.059, "twice 30 ms");
});

test("a pause keeps the place to the sample, and what comes meanwhile is kept", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 8 }), (pausedAtMs, given) => {
      const { sound, player, ends } = listening();
      const all = frames(8);
      for (const frame of all.slice(0, given)) player.add(frame);
      sound.goOn(pausedAtMs / 1_000);
      player.pause();
      for (const frame of all.slice(given)) player.add(frame);
      player.complete();
      const before = player.positionS;
      sound.goOn(3);
      assert.equal(player.positionS, before);
      assert.deepEqual([player.state, ends.length], ["paused", 0]);
      player.resume();
      sound.goOn(3);
      assert.deepEqual(sounding(sound.heard()), joined(all));
      assert.deepEqual([player.state, ends.length, player.underruns], ["ended", 1, 0]);
    }),
  );
});

test("a jump plays from there, within what has come; a paused player stays paused there", () => {
  const { sound, player } = listening();
  const all = frames(10);
  for (const frame of all) player.add(frame);
  player.seek(0.4);
  assert.equal(player.positionS, 0.4);
  player.complete();
  sound.goOn(2);
  assert.deepEqual(sounding(sound.heard()), joined(all.slice(5)));
  player.seek(99);
  assert.equal(player.positionS, 0.8);
  player.seek(-1);
  assert.deepEqual([player.positionS, player.state], [0, "ended"]);
});

test("after the end, all of it can be heard again", () => {
  const { sound, player, ends } = listening();
  const all = frames(2);
  for (const frame of all) player.add(frame);
  player.complete();
  sound.goOn(1);
  player.resume();
  assert.equal(player.state, "playing");
  sound.goOn(1);
  assert.deepEqual(sounding(sound.heard()), joined([...all, ...all]));
  assert.equal(ends.length, 2);
});

test("a stop is silent at once, is told once, and leaves the stream", async () => {
  const { sound, player, ends } = listening();
  let isLeft = false;
  const events: AsyncIterableIterator<StreamEvent> = {
    next: async () =>
      isLeft ? { done: true, value: undefined } : { done: false, value: audio(frames(1)[0]!) },
    return: async () => {
      isLeft = true;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  const over = player.play(events);
  await Promise.resolve();
  sound.goOn(0.1);
  player.stop();
  player.stop();
  await over;
  assert.ok(isLeft);
  const before = sounding(sound.heard()).length;
  sound.goOn(1);
  assert.equal(sounding(sound.heard()).length, before);
  assert.deepEqual([player.state, ends.length], ["ended", 1]);
});

test("a stream that breaks off is thrown at once, and what came of it is heard", async () => {
  const { sound, player, ends } = listening();
  const all = frames(2);
  async function* broken(): AsyncGenerator<StreamEvent> {
    for (const pcm of all) yield audio(pcm);
    throw new Error("broken off");
  }
  await assert.rejects(player.play(broken()), /broken off/);
  sound.goOn(1);
  assert.deepEqual(sounding(sound.heard()), joined(all));
  assert.equal(ends.length, 1);
});

test("words and places are told as they are heard, also after a jump", (t: TestContext) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const told: string[] = [];
  let lastS = 0;
  const { sound, player } = listening({
    onWord: ({ word }) => told.push(word),
    onPosition: (seconds) => {
      lastS = seconds;
    },
  });
  const word = (each: string, start: number) => ({
    word: each,
    start,
    end: start + 0.1,
    offset: 0,
    length: 1,
  });
  const goOn = () => {
    for (let ticks = 0; ticks < 25; ticks++) {
      sound.goOn(0.04);
      t.mock.timers.tick(40);
    }
  };
  const [first, ...rest] = frames(10);
  player.add(first!, [word("The", 0.01)]);
  for (const [at, frame] of rest.entries())
    player.add(frame, at === 4 ? [word("kettle", 0.45), word("is", 0.6)] : []);
  player.complete();
  goOn();
  assert.deepEqual(told, ["The", "kettle", "is"]);
  assert.ok(lastS > 0.7 && lastS <= 0.8, `${lastS}`);
  player.seek(0.5);
  assert.deepEqual(told.splice(0), ["The", "kettle", "is", "kettle"]);
  player.resume();
  goOn();
  assert.deepEqual(told, ["is"]);
});

function audio(pcm: Int16Array<ArrayBuffer>): StreamEvent {
  return { event: "audio", data: { pcm_b64: "", sample_rate: SAMPLE_RATE_HZ, index: 0 }, pcm };
}
