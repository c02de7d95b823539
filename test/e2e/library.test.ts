import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  type Antiphon,
  AntiphonError,
  open,
  type Speech,
  type SpeechFrame,
} from "../../src/library/antiphon.ts";
import { launch } from "../children.ts";
import { within } from "../waiting.ts";
import { clientOf } from "./client.ts";
import { TOP, temporaryFolder } from "./folders.ts";
import { finished, newcomersEnvironment } from "./program.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const TEXT = "We met at the harbour, well before sunrise.";
const STILL = { params: { temperature: 0 } };

async function framesOf(speech: Speech): Promise<SpeechFrame[]> {
  const frames: SpeechFrame[] = [];
  for await (const frame of speech) frames.push(frame);
  return frames;
}

const secondsOf = (frames: readonly SpeechFrame[]) =>
  frames.reduce((sum, { samples }) => sum + samples.length, 0) / 24_000;

async function failure(work: () => unknown): Promise<AntiphonError> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof AntiphonError, String(error));
    return error;
  }
  return assert.fail("it did not fail");
}

describe("Antiphon in a process", () => {
  let antiphon: Antiphon;
  before(async () => {
    antiphon = await open({
      dataDir: temporaryFolder(),
      writer: { kind: "none" },
      recogniser: { kind: "none" },
    });
  });
  after(() => antiphon.close());

  it("says what the server says, to the sample, with its words, as often and at once as one likes", async () => {
    const server: ServerProcess = await startServerProcess();
    const served = await clientOf(server.url, server.key).tts({ text: TEXT, params: { temperature: 0 } });
    await server.stop();
    const [one, other] = await Promise.all([
      framesOf(antiphon.say(TEXT, STILL)),
      framesOf(antiphon.converse([{ text: TEXT }], STILL)),
    ]);
    const samples = (frames: readonly SpeechFrame[]) =>
      Buffer.from(
        Int16Array.from(frames.flatMap((each) => [...each.samples]).map((x) => Math.round(x * 32_768)))
          .buffer,
      );
    assert.ok(samples(one).equals(served));
    assert.ok(samples(other).equals(served));
    const words = one.flatMap((frame) => frame.words);
    assert.deepEqual(
      words.map(({ offset, length }) => TEXT.slice(offset, offset + length)),
      ["We", "met", "at", "the", "harbour", "well", "before", "sunrise"],
    );
    assert.ok(
      words.every(({ start, end }, at) => start < end && (at === 0 || start >= words[at - 1]!.start)),
    );
    for (const [at, { start }] of one.entries()) assert.ok(Math.abs(start - at * 0.08) < 1e-9);
  });

  it("says long texts to their end, and tells words by their place in all of it", async () => {
    const text = `${"The tea is ready. 😀 ".repeat(30)}\n\n`.repeat(14);
    assert.ok(text.length > 8_000);
    const speech = antiphon.say(text, STILL);
    const frames = await framesOf(speech);
    const chars = Array.from(text);
    for (const { word, offset, length } of frames.flatMap((frame) => frame.words))
      assert.equal(chars.slice(offset, offset + length).join(""), word);
    const { text: said, stop, duration } = await speech.end;
    assert.deepEqual([said === text, stop], [true, "finished"]);
    assert.ok(Math.abs(duration - secondsOf(frames)) < 1e-6);
  });

  it("is left at any time: its place is free at once, by leaving the loop, by a signal, and by not beginning", async () => {
    for (let i = 0; i < 6; i++) {
      antiphon.say(TEXT);
      for await (const _ of antiphon.say(TEXT)) break;
      const leaving = new AbortController();
      const speech = antiphon.say(TEXT.repeat(5), { signal: leaving.signal });
      await assert.rejects(async () => {
        for await (const _ of speech) leaving.abort(new Error("enough"));
      }, /^Error: enough$/);
      await assert.rejects(speech.end, /enough/);
    }
    assert.ok(secondsOf(await framesOf(antiphon.say(TEXT))) > 1);
    const twice = antiphon.say("Hi.");
    await framesOf(twice);
    assert.match((await failure(() => framesOf(twice))).message, /once/);
  });

  it("fails in a sentence that names the field", async () => {
    for (const [work, code, field, message] of [
      [
        () => framesOf(antiphon.say("Hi.", { voice: "novva" })),
        "invalid_request",
        "voice",
        /did you mean "nova"\?/,
      ],
      [() => framesOf(antiphon.say("")), "invalid_request", "text", /^text must have at least 1 character/],
      [() => framesOf(antiphon.say("!?")), "invalid_request", null, /speakable/],
      [
        () => framesOf(antiphon.say("Hi.", { params: { temperature: 9 } })),
        "invalid_request",
        "params.temperature",
        /at most 1\.5/,
      ],
      [() => framesOf(antiphon.converse([{ text: "Hi." }, {}])), "inference_error", null, /./],
      [
        () => framesOf(antiphon.converse([{ audio: new Uint8Array(9), text: "a" }, { text: "b" }])),
        "invalid_request",
        null,
        /conversation\[0\]\.audio/,
      ],
      [() => antiphon.transcribe("none.wav"), "settings", null, /recogniser\.kind is none/],
      [() => open({ portt: 1 }), "settings", null, /"portt", which is not a setting: did you mean port\?/],
    ] as const) {
      const error = await failure(work);
      assert.match(error.message, message);
      if (field !== null) assert.equal(error.field, field);
      assert.equal(error.code, code, error.message);
    }
  });

  it("reads phonemes", async () => {
    assert.deepEqual(await antiphon.phonemes("The tea is ready. Now."), ["ðə tˈi ɪz ɹˈɛdi.", "nˈW."]);
  });

  it("is closed in the middle of what it says, once and for all", async () => {
    const own = await open({ dataDir: temporaryFolder() });
    const speech = own.say("The old man put down his cup. ".repeat(60));
    const error = await failure(async () => {
      for await (const _ of speech) void own.close();
    });
    assert.equal(error.code, "closed");
    await Promise.all([own.close(), own.close()]);
    assert.equal((await failure(() => own.say("Hi."))).code, "closed");
    assert.equal((await failure(() => own.phonemes("Hi."))).code, "closed");
  });

  for (const [kind, name, program] of [
    ["an ES module", "say.mjs", 'import { open } from "antiphon";'],
    ["a CommonJS module", "say.cjs", 'const { open } = require("antiphon");'],
  ] as const) {
    it(`is used by ${kind}, whose process ends by itself`, async () => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(TOP, join(folder, "node_modules/antiphon"));
      const rest = `
        (async () => {
          const antiphon = await open({ dataDir: "data" });
          let samples = 0;
          for await (const frame of antiphon.say("The tea is ready.")) samples += frame.samples.length;
          await antiphon.close();
          console.log(samples > 20_000);
        })();`;
      writeFileSync(join(folder, name), program + rest);
      const child = launch(process.execPath, [name], { cwd: folder, env: newcomersEnvironment() });
      const { code, stdout, stderr } = await within("the end", finished(child), { deadlineMs: 60_000 });
      assert.deepEqual([code, stdout.trim()], [0, "true"], stderr);
    });
  }
});
