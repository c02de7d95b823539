import assert from "node:assert/strict";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { toPcm16 } from "../../src/audio/pcm.ts";
import { type Antiphon, open, type SpeechFrame } from "../../src/library/antiphon.ts";
import { launch } from "../children.ts";
import { failure, framesOf, samplesOf, secondsOf } from "../library/using.ts";
import { within } from "../waiting.ts";
import { clientOf } from "./client.ts";
import { TOP, temporaryFolder } from "./folders.ts";
import { finished, newcomersEnvironment } from "./program.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const TEXT = "We met at the harbour, well before sunrise.";
const TEMPERATURE_0 = { params: { temperature: 0 } };
const NO_MODELS = { writer: { kind: "none" }, recogniser: { kind: "none" } };
/** More characters than one request takes, none of them spoken. */
const COMMENT = `<!-- > zebra ${"x".repeat(9_000)} -->`;
const FILLING = "!? ".repeat(600);

const wordsOf = (frames: readonly SpeechFrame[]) => frames.flatMap((frame) => frame.words);

describe("Antiphon in a process", () => {
  let antiphon: Antiphon;
  before(async () => {
    antiphon = await open({ dataDir: temporaryFolder(), ...NO_MODELS });
  });
  after(() => antiphon.close());

  it("speaks the server's samples, with word times, for concurrent calls", async () => {
    const server: ServerProcess = await startServerProcess();
    const served = await clientOf(server.url, server.key).tts({ text: TEXT, ...TEMPERATURE_0 });
    await server.stop();
    const [one, other] = await Promise.all([
      framesOf(antiphon.say(TEXT, TEMPERATURE_0)),
      framesOf(antiphon.converse([{ text: TEXT }], TEMPERATURE_0)),
    ]);
    const samples = (frames: readonly SpeechFrame[]) => Buffer.from(toPcm16(samplesOf(frames)).buffer);
    assert.ok(samples(one).equals(served));
    assert.ok(samples(other).equals(served));
    const words = wordsOf(one);
    assert.deepEqual(
      words.map(({ offset, length }) => TEXT.slice(offset, offset + length)),
      ["We", "met", "at", "the", "harbour", "well", "before", "sunrise"],
    );
    for (const [at, { start, end }] of words.entries())
      assert.ok(start < end && (at === 0 || start >= words[at - 1]!.start));
    for (const [at, { start }] of one.entries()) assert.ok(Math.abs(start - at * 0.08) < 1e-9);
  });

  it("speaks a text of several passages whole, with word offsets into all of it", async () => {
    const part = `${"The tea is ready. 😀 Bye bye bye. ".repeat(3)}\n\n* * *\n\n你好。\n\n${FILLING}\n\n`;
    const text = part.repeat(5);
    assert.ok(text.length > 8_000);
    const speech = antiphon.say(text, TEMPERATURE_0);
    const frames = await framesOf(speech);
    const characters = Array.from(text);
    const words = wordsOf(frames);
    let previous = 0;
    for (const { word, offset, length } of words) {
      assert.equal(characters.slice(offset, offset + length).join(""), word);
      assert.ok(offset >= previous, `${word} at ${offset}`);
      previous = offset;
    }
    assert.equal(words.filter(({ word }) => word.toLowerCase() === "bye").length, 3 * 3 * 5);
    let samples = 0;
    for (const frame of frames) {
      assert.ok(Math.abs(frame.start - samples / 24_000) < 1e-9);
      assert.ok(frame.samples.length >= 1 && frame.samples.length <= 1_920);
      samples += frame.samples.length;
    }
    const { text: spoken, stop, duration } = await speech.end;
    assert.deepEqual([spoken === text, stop, duration], [true, "finished", samples / 24_000]);
  });

  it("speaks long SSML and dictated text with word offsets into the source", async () => {
    const breaks = `<speak>${COMMENT}${"<p>A break <break time='20ms'/> is a break.</p>\n".repeat(3)}</speak>`;
    const words = wordsOf(await framesOf(antiphon.say(breaks, TEMPERATURE_0)));
    assert.equal(words.length, 3 * 5);
    const [, first, , , second] = words;
    assert.deepEqual([first!.offset, second!.offset], [breaks.indexOf("break <"), breaks.indexOf("break.")]);
    const paragraph = "<p>Zebra 🙂 <![CDATA[zebra & co]]> walk.</p>";
    const line = "The kettle is on and tea is near. ";
    for (const text of [
      `<speak>${COMMENT}${paragraph.repeat(3)}<p>zebra</p></speak>`,
      `${line}It cost $5\nmillion in [pause:0.1s] us. ${`${FILLING}${line}`.repeat(5)}It cost $5 million.`,
    ]) {
      const characters = Array.from(text);
      const spoken = wordsOf(await framesOf(antiphon.say(text, TEMPERATURE_0)));
      assert.ok(spoken.length > 9);
      for (const { word, offset, length } of spoken)
        assert.equal(
          characters
            .slice(offset, offset + length)
            .join("")
            .replace("\n", " "),
          word,
        );
    }
  });

  it("frees the slot of speech that is left by break, by a signal, or before it starts", async () => {
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
    const before = AbortSignal.abort(new Error("before"));
    await assert.rejects(framesOf(antiphon.say(TEXT, { signal: before })), /before/);
    assert.ok(secondsOf(await framesOf(antiphon.say(TEXT))) > 1);
  });

  it("stops speech by a signal or return() while no frame is requested", async () => {
    const leaving = new AbortController();
    const speech = antiphon.say(TEXT.repeat(20), { signal: leaving.signal });
    await speech.next();
    leaving.abort(new Error("enough"));
    await assert.rejects(speech.end, /enough/);
    await assert.rejects(speech.next(), /enough/);
    const other = antiphon.say(TEXT.repeat(20));
    await other.next();
    const next = other.next();
    const over = { value: undefined, done: true };
    assert.deepEqual([await other.return(), await next, await other.next()], [over, over, over]);
  });

  it("allows one iteration of a speech", async () => {
    const speech = antiphon.say("The tea is ready. It is hot.");
    const first = await speech.next();
    assert.ok(first.done !== true && first.value.sampleRate === 24_000);
    assert.ok((await framesOf(speech)).length > 10);
    assert.match((await failure(() => framesOf(speech))).message, /once/);
    assert.equal((await speech.end).stop, "finished");
  });

  it("speaks while twelve other speeches are paused", async () => {
    const paused = Array.from({ length: 12 }, () => antiphon.say(TEXT.repeat(20)));
    await Promise.all(paused.map((speech) => speech.next()));
    assert.ok(secondsOf(await framesOf(antiphon.say(TEXT))) > 1);
    await Promise.all(paused.map((speech) => speech.return()));
  });

  it("yields visemes and marks, and takes a lexicon", async () => {
    const text = '<speak>Tea <mark name="now"/> is ready.</speak>';
    const options = { visemes: true, lexicon: { tea: "coffee" }, input_type: "ssml" } as const;
    const frames = await framesOf(antiphon.say(text, options));
    const marks = wordsOf(frames).map(({ mark }) => mark);
    assert.deepEqual(marks.filter(Boolean), ["now"]);
    assert.ok(frames.some(({ visemes }) => visemes?.some(({ viseme }) => viseme === "kk")));
    assert.ok(frames.some(({ phonemes = [] }) => phonemes.length > 0));
  });

  it("returns phonemes", async () => {
    assert.deepEqual(await antiphon.phonemes("The tea is ready. Now."), ["ðə tˈi ɪz ɹˈɛdi.", "nˈW."]);
  });

  it('rejects pending and later work with "closed", freezes no settings, and creates no folder', async () => {
    const dataDir = join(temporaryFolder(), "data");
    const settings = { dataDir, corsOrigins: ["https://example.org"], workers: undefined };
    const own = await open(settings);
    const long = "The old man put down his cup. ".repeat(60);
    const [speech, left, unstarted] = [own.say(long), own.say(long), own.say(long)];
    const unstartedEnd = failure(() => unstarted.end);
    await left.next();
    const error = await failure(async () => {
      for await (const _ of speech) void own.close();
    });
    assert.equal(error.code, "closed");
    await Promise.all([own.close(), own.close()]);
    assert.equal((await unstartedEnd).code, "closed");
    for (const work of [
      () => speech.end,
      () => left.next(),
      () => left.end,
      () => framesOf(unstarted),
      () => framesOf(own.say("Hi.")),
      () => own.phonemes("Hi."),
      () => own.transcribe("tea.wav"),
    ])
      assert.equal((await failure(work)).code, "closed");
    assert.ok(!Object.isFrozen(settings.corsOrigins));
    assert.ok(!existsSync(dataDir));
  });

  it("closes while its voice is loading", async () => {
    const own = await open({ dataDir: temporaryFolder() });
    const speech = own.say("Hi.");
    const first = failure(() => speech.next());
    await own.close();
    assert.equal((await first).code, "closed");
  });

  for (const [name, program] of [
    ["say.mjs", 'import { open } from "antiphon";'],
    ["say.cjs", 'const { open } = require("antiphon");'],
  ] as const) {
    it(`lets the process of ${name} end by itself`, async () => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(TOP, join(folder, "node_modules/antiphon"));
      const rest = `
        (async () => {
          const antiphon = await open({ dataDir: "data" });
          let samples = 0;
          for await (const frame of antiphon.say("The tea is ready.")) samples += frame.samples.length;
          await Promise.all(Array.from({ length: 12 }, () => antiphon.say("It is hot. And now?").next()));
          await antiphon.close();
          console.log(samples > 20_000);
        })();`;
      writeFileSync(join(folder, name), program + rest);
      const child = launch(process.execPath, [name], { cwd: folder, env: newcomersEnvironment() });
      const { code, stdout, stderr } = await within("the end", finished(child), { deadlineMs: 60_000 });
      assert.deepEqual([code, stdout.trim(), stderr], [0, "true", ""]);
    });
  }
});
