import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import type { StreamEvent } from "../../src/client/antiphon.ts";
import { Player, type PlayerOptions, SAMPLE_RATE_HZ } from "../../src/client/player.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import fc from "../properties.ts";
import { until } from "../waiting.ts";
import { NEEDS_CHROMIUM, runInPage } from "./browser.ts";
import { FakeSound } from "./fake-audio-context.ts";

const FRAME_SAMPLES = 1_920;
const FRAME_S = FRAME_SAMPLES / SAMPLE_RATE_HZ;

/** Frames without silent samples, each different from its neighbours. */
const frames = (count: number): Int16Array<ArrayBuffer>[] =>
  Array.from({ length: count }, (_, frame) =>
    Int16Array.from({ length: FRAME_SAMPLES }, (_, i) => 1 + ((frame * FRAME_SAMPLES + i) % 32_000)),
  );
const joined = (pieces: readonly Int16Array[]) => Int16Array.from(pieces.flatMap((piece) => [...piece]));
const withoutSilence = (samples: Int16Array) => samples.filter((sample) => sample !== 0);

function listening(options: PlayerOptions = {}) {
  const sound = new FakeSound();
  sound.goOn(1);
  const ends: number[] = [];
  const player = new Player({ context: sound, onEnd: () => ends.push(sound.currentTime), ...options });
  return { sound, player, ends };
}

test("plays frames that come at once without a gap, after 30 ms, and ends once", () => {
  const { sound, player, ends } = listening();
  const all = frames(10);
  for (const frame of all) player.add(frame);
  player.complete();
  sound.goOn(2);
  const heard = sound.heard();
  const first = heard.findIndex((sample) => sample !== 0);
  assert.ok(first / SAMPLE_RATE_HZ - 1 < 0.036, `${first}`);
  assert.deepEqual(heard.subarray(first, first + 19_200), joined(all));
  assert.equal(withoutSilence(heard).length, 19_200);
  assert.equal(ends.length, 1);
  assert.deepEqual([player.state, player.positionS, player.underruns], ["ended", 0.8, 0]);
});

test("plays irregular frames without a gap if they come in time", () => {
  const waiting = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(waiting, (waits) => {
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
    }),
  );
});

test("plays a late frame whole, counts it and delays the next ones", () => {
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
  assert.deepEqual(withoutSilence(sound.heard()), joined(all));
  const second = sound.heard().indexOf(all[1]![0]!) / SAMPLE_RATE_HZ;
  assert.ok(second - before >= 0.059, "twice 30 ms");
});

test("pauses at the sample and keeps frames that come meanwhile", () => {
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
      assert.deepEqual(withoutSilence(sound.heard()), joined(all));
      assert.deepEqual([player.state, ends.length, player.underruns], ["ended", 1, 0]);
    }),
  );
});

test("seeks within the received frames and stays ended there", () => {
  const { sound, player } = listening();
  const all = frames(10);
  for (const frame of all) player.add(frame);
  player.seek(0.4);
  assert.equal(player.positionS, 0.4);
  player.complete();
  sound.goOn(2);
  assert.deepEqual(withoutSilence(sound.heard()), joined(all.slice(5)));
  player.seek(99);
  assert.equal(player.positionS, 0.8);
  player.seek(-1);
  assert.deepEqual([player.positionS, player.state], [0, "ended"]);
});

test("plays everything again after the end", () => {
  const { sound, player, ends } = listening();
  const all = frames(2);
  for (const frame of all) player.add(frame);
  player.complete();
  sound.goOn(1);
  player.resume();
  assert.equal(player.state, "playing");
  sound.goOn(1);
  assert.deepEqual(withoutSilence(sound.heard()), joined([...all, ...all]));
  assert.equal(ends.length, 2);
});

test("stops at once, ends once and leaves the stream", async () => {
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
  const before = withoutSilence(sound.heard()).length;
  sound.goOn(1);
  assert.equal(withoutSilence(sound.heard()).length, before);
  assert.deepEqual([player.state, ends.length], ["ended", 1]);
});

test("throws a stream's error at once and plays what came before it", async () => {
  const { sound, player, ends } = listening();
  const all = frames(2);
  async function* broken(): AsyncGenerator<StreamEvent> {
    for (const pcm of all) yield audio(pcm);
    throw new Error("broken off");
  }
  await assert.rejects(player.play(broken()), /broken off/);
  sound.goOn(1);
  assert.deepEqual(withoutSilence(sound.heard()), joined(all));
  assert.equal(ends.length, 1);
});

test("reports words and positions as they are played, after a seek too", (t: TestContext) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const told: string[] = [];
  let lastS = 0;
  const { sound, player } = listening({
    onWord: ({ word }) => told.push(word),
    onPosition: (seconds) => {
      lastS = seconds;
    },
  });
  const span = { offset: 0, length: 1 };
  const word = (each: string, start: number) => ({ word: each, start, end: start + 0.1, ...span });
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

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

/** Records every sample and returns them on request. */
const CAPTURE = `
registerProcessor("capture", class extends AudioWorkletProcessor {
  samples = [];
  constructor() {
    super();
    this.port.onmessage = () => this.port.postMessage(this.samples);
  }
  process([[samples]], [[output]]) {
    for (let i = 0; i < output.length; i++) this.samples.push(samples ? Math.round(samples[i] * 32768) : 0);
    return true;
  }
});
`;

const OPENING = `
const { Antiphon } = await import("/client/antiphon.js");
const { Player, wakeSound } = await import("/client/player.js");
const antiphon = new Antiphon({ baseUrl: "" });
const context = wakeSound();
await context.audioWorklet.addModule("/worklet.js");
const capture = new AudioWorkletNode(context, "capture");
capture.connect(context.destination);
const captured = () => new Promise((resolve) => {
  capture.port.onmessage = ({ data }) => resolve(data);
  capture.port.postMessage(null);
});
const given = [];
async function* noted(events) {
  for await (const event of events) {
    if (event.event === "audio") given.push(...event.pcm);
    yield event;
  }
}
`;

interface Heard {
  readonly error?: string;
  readonly given: readonly number[];
  readonly captured: readonly number[];
  readonly ends: number;
  readonly state: string;
  readonly underruns: number;
  readonly positions: readonly number[];
}

/** Removes the silence before and after. */
function trimmed(samples: readonly number[]): readonly number[] {
  return samples.slice(
    samples.findIndex((sample) => sample !== 0),
    samples.findLastIndex((sample) => sample !== 0) + 1,
  );
}

test("plays a stream in a browser to its last sample without a gap", NEEDS_CHROMIUM, async () => {
  const heard = (await runInPage(
    server,
    `${OPENING}
    const [positions, ends] = [[], []];
    const player = new Player({
      context,
      destination: capture,
      onPosition: (seconds) => positions.push(seconds),
      onEnd: () => ends.push(1),
    });
    const conversation = [{ text: "Hello there, it is good to hear." }];
    await player.play(noted(antiphon.stream({ conversation })));
    const { state, underruns } = player;
    report({ given, captured: await captured(), ends: ends.length, state, underruns, positions });`,
    CAPTURE,
  )) as Heard;
  assert.equal(heard.error, undefined);
  assert.ok(heard.given.length > 24_000, `${heard.given.length}`);
  assert.deepEqual(trimmed(heard.captured), trimmed(heard.given));
  assert.deepEqual([heard.state, heard.ends, heard.underruns], ["ended", 1, 0]);
  const isLater = (at: number, index: number, all: readonly number[]) => index === 0 || at >= all[index - 1]!;
  assert.ok(heard.positions.length > 10 && heard.positions.every(isLater));
});

test("pauses, resumes and stops in a browser, which ends the generation", NEEDS_CHROMIUM, async () => {
  const heard = (await runInPage(
    server,
    `${OPENING}
    const ends = [];
    const player = new Player({ context, destination: capture, onEnd: () => ends.push(1) });
    const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const reply = player.play(noted(antiphon.stream({ conversation: [{ text: "word ".repeat(1500) }] })));
    while (player.positionS < 0.3) await later(10);
    player.pause();
    await later(100);
    player.resume();
    while (player.positionS < 0.6) await later(10);
    player.stop();
    await reply;
    const { state, underruns } = player;
    report({ given, captured: await captured(), ends: ends.length, state, underruns, positions: [] });`,
    CAPTURE,
  )) as Heard;
  assert.equal(heard.error, undefined);
  assert.deepEqual([heard.state, heard.ends], ["ended", 1]);
  await until("the generation to end", async () => (await server.begun()) === 0);
  // A browser stops up to a quantum late; the exact place is tested above.
  const count = heard.captured.filter((sample) => sample !== 0).length;
  assert.ok(count > 0.5 * 24_000 && count < 2 * 24_000, `${count} samples`);
});
