import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import { until } from "../waiting.ts";
import { NEEDS_CHROMIUM, runInPage } from "./browser.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

/** Keeps every sample that it is played, and gives them when it is asked. */
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

/** All from the first sample that is not silent to the last. */
function sounding(samples: readonly number[]): readonly number[] {
  return samples.slice(
    samples.findIndex((sample) => sample !== 0),
    samples.findLastIndex((sample) => sample !== 0) + 1,
  );
}

test("in a browser, a stream is heard to its last sample, without a gap", NEEDS_CHROMIUM, async () => {
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
  assert.deepEqual(sounding(heard.captured), sounding(heard.given));
  assert.deepEqual([heard.state, heard.ends, heard.underruns], ["ended", 1, 0]);
  assert.deepEqual(
    heard.positions,
    heard.positions.toSorted((a, b) => a - b),
  );
  assert.ok(heard.positions.length > 10);
});

test(
  "in a browser, a reply is paused, goes on, and its stop ends the generation",
  NEEDS_CHROMIUM,
  async () => {
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
    // A browser stops a sound up to a quantum late, so where exactly it went on is asked of a fake one.
    const sounded = heard.captured.filter((sample) => sample !== 0).length;
    assert.ok(sounded > 0.5 * 24_000 && sounded < 2 * 24_000, `${sounded} samples`);
  },
);
