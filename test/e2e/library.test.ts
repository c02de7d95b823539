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
const STILL = { params: { temperature: 0 } };

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
    const samples = (frames: readonly SpeechFrame[]) => Buffer.from(toPcm16(samplesOf(frames)).buffer);
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
    const text = `${"The tea is ready. 😀 Bye bye bye. ".repeat(20)}\n\n* * *\n\n你好。\n\n`.repeat(13);
    assert.ok(text.length > 8_000);
    const speech = antiphon.say(text, STILL);
    const frames = await framesOf(speech);
    const chars = Array.from(text);
    const words = frames.flatMap((frame) => frame.words);
    let behind = 0;
    for (const { word, offset, length } of words) {
      assert.equal(chars.slice(offset, offset + length).join(""), word);
      assert.ok(offset >= behind, `${word} at ${offset}`);
      behind = offset + length;
    }
    assert.equal(words.filter(({ word }) => word.toLowerCase() === "bye").length, 3 * 20 * 13);
    let samples = 0;
    for (const frame of frames) {
      assert.ok(Math.abs(frame.start - samples / 24_000) < 1e-9);
      assert.ok(frame.samples.length >= 1 && frame.samples.length <= 1_920);
      samples += frame.samples.length;
    }
    const { text: said, stop, duration } = await speech.end;
    assert.deepEqual([said === text, stop, duration], [true, "finished", samples / 24_000]);
  });

  it("says SSML of any length, and tells words by their place between the tags", async () => {
    const text = `<speak>${"<p>A break <break time='20ms'/> is a break.</p>\n".repeat(200)}</speak>`;
    assert.ok(text.length > 8_000);
    const words = (await framesOf(antiphon.say(text, STILL))).flatMap((frame) => frame.words);
    assert.equal(words.length, 200 * 5);
    const [, first, , , second] = words;
    assert.deepEqual([first!.offset, second!.offset], [text.indexOf("break <"), text.indexOf("break.")]);
    const tricky = `<speak><!-- > zebra -->${"<p>Zebra 🙂 <![CDATA[zebra & co]]> walk.</p>".repeat(250)}<p>zebra</p></speak>`;
    const characters = Array.from(tricky);
    for (const { words: told } of await framesOf(antiphon.say(tricky, STILL)))
      for (const { word, offset, length } of told)
        assert.equal(characters.slice(offset, offset + length).join(""), word);
    const line = "The kettle is on and tea is near. ";
    const broken = `${line.repeat(60)}It cost $5\nmillion in [pause:0.1s] us. ${line.repeat(200)}It cost $5 million.`;
    for (const { words: told } of await framesOf(antiphon.say(broken, STILL)))
      for (const { word, offset, length } of told)
        assert.equal(broken.slice(offset, offset + length).replace("\n", " "), word);
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
    const before = AbortSignal.abort(new Error("before"));
    await assert.rejects(framesOf(antiphon.say(TEXT, { signal: before })), /before/);
    assert.ok(secondsOf(await framesOf(antiphon.say(TEXT))) > 1);
  });

  it("is stopped by a signal, and by leaving it, where nobody asks for its next frame", async () => {
    const leaving = new AbortController();
    const speech = antiphon.say(TEXT.repeat(20), { signal: leaving.signal });
    await speech.next();
    leaving.abort(new Error("enough"));
    await assert.rejects(speech.end, /enough/);
    await assert.rejects(speech.next(), /enough/);
    const other = antiphon.say(TEXT.repeat(20));
    await other.next();
    const asked = other.next();
    const over = { value: undefined, done: true };
    assert.deepEqual([await other.return(), await asked, await other.next()], [over, over, over]);
  });

  it("is an iterator, which is gone through once", async () => {
    const speech = antiphon.say("The tea is ready. It is hot.");
    const first = await speech.next();
    assert.ok(first.done !== true && first.value.sampleRate === 24_000);
    assert.ok((await framesOf(speech)).length > 10);
    assert.match((await failure(() => framesOf(speech))).message, /once/);
    assert.equal((await speech.end).stop, "finished");
  });

  it("speaks on however many were left in the middle", async () => {
    const left = Array.from({ length: 12 }, () => antiphon.say(TEXT.repeat(20)));
    await Promise.all(left.map((speech) => speech.next()));
    assert.ok(secondsOf(await framesOf(antiphon.say(TEXT))) > 1);
    await Promise.all(left.map((speech) => speech.return()));
  });

  it("tells of the mouth, of marks and of own words where it is asked for", async () => {
    const frames = await framesOf(
      antiphon.say('<speak>Tea <mark name="now"/> is ready.</speak>', {
        visemes: true,
        lexicon: { tea: "coffee" },
        input_type: "ssml",
      }),
    );
    const words = frames.flatMap((frame) => frame.words);
    assert.deepEqual(words.map(({ mark }) => mark).filter(Boolean), ["now"]);
    assert.ok(frames.some(({ visemes }) => visemes?.some(({ viseme }) => viseme === "kk")));
    assert.ok(frames.some(({ phonemes = [] }) => phonemes.length > 0));
  });

  it("leaves the settings that it is given, and needs no folder to speak", async () => {
    const dataDir = join(temporaryFolder(), "data");
    const settings = { dataDir, corsOrigins: ["https://example.org"], workers: undefined };
    const own = await open(settings);
    await framesOf(own.say("Hi."));
    await own.close();
    assert.ok(!Object.isFrozen(settings.corsOrigins));
    assert.ok(!existsSync(dataDir));
  });

  it("reads phonemes", async () => {
    assert.deepEqual(await antiphon.phonemes("The tea is ready. Now."), ["ðə tˈi ɪz ɹˈɛdi.", "nˈW."]);
  });

  it("is closed in the middle of what it says, once and for all", async () => {
    const own = await open({ dataDir: temporaryFolder() });
    const long = "The old man put down his cup. ".repeat(60);
    const [speech, left, unbegun] = [own.say(long), own.say(long), own.say(long)];
    const unbegunEnd = failure(() => unbegun.end);
    await left.next();
    const error = await failure(async () => {
      for await (const _ of speech) void own.close();
    });
    assert.equal(error.code, "closed");
    await Promise.all([own.close(), own.close()]);
    assert.equal((await unbegunEnd).code, "closed");
    for (const work of [
      () => speech.end,
      () => left.next(),
      () => left.end,
      () => framesOf(unbegun),
      () => framesOf(own.say("Hi.")),
      () => own.phonemes("Hi."),
      () => own.transcribe("tea.wav"),
    ])
      assert.equal((await failure(work)).code, "closed");
  });

  it("is closed while its voice is being loaded", async () => {
    const own = await open({ dataDir: temporaryFolder() });
    const speech = own.say("Hi.");
    const first = failure(() => speech.next());
    await own.close();
    assert.equal((await first).code, "closed");
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
