import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Antiphon, open } from "../../src/library/antiphon.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { medianPitchHz } from "../engines/embedded/listening.ts";
import { failure, framesOf, samplesOf } from "../library/using.ts";
import { temporaryFolder } from "./folders.ts";
import { antiphon as runProgram } from "./program.ts";

const SCRIPT = `# At home

Anna: Good morning, Ben! Did you sleep well?
Ben: Like a log. And --
Anna: Wait! What was that?

# In the kitchen

Ben (slower): It was only the wind, I think.
`;
const TEMPERATURE_0 = { params: { temperature: 0 } };

describe("a dialogue", () => {
  let antiphon: Antiphon;
  before(async () => {
    antiphon = await open({
      dataDir: temporaryFolder(),
      writer: { kind: "none" },
      recogniser: { kind: "none" },
    });
  });
  after(() => antiphon.close());

  it("has each line in its speaker's voice, at the times of its words, in the library", async () => {
    const speech = antiphon.dialogue(SCRIPT, { voices: { Anna: "maya", Ben: "bruno" }, ...TEMPERATURE_0 });
    const frames = await framesOf(speech);
    const words = frames.flatMap((frame) => frame.words);
    const samples = samplesOf(frames);
    assert.deepEqual([...new Set(words.map(({ line }) => line))], [0, 1, 2, 3]);
    for (const line of [0, 1, 2, 3]) {
      const own = words.filter((word) => word.line === line);
      assert.equal(own[0]!.speaker, line % 2 === 0 ? "Anna" : "Ben");
      const hz = medianPitchHz(samples.slice(24_000 * own[0]!.start, 24_000 * own.at(-1)!.end));
      assert.ok(line % 2 === 0 ? hz > 160 : hz < 120, `line ${line} has ${hz} Hz`);
      for (const { word, offset, length } of own) assert.equal(SCRIPT.slice(offset, offset + length), word);
    }
    assert.equal((await speech.end).text, SCRIPT);
    const { field, message } = await failure(() => framesOf(antiphon.dialogue("Hello.")));
    assert.deepEqual([field, /line 1/.test(message)], ["script", true]);
  });

  it("ends when its consumer leaves", async () => {
    for await (const { samples } of antiphon.dialogue([{ voice: "0", text: "One. Two. Three." }])) {
      assert.ok(samples.length > 0);
      break;
    }
  });

  for (const ending of ["mp3", "opus"])
    it(`is spoken by antiphon say with captions and chapters in ${ending}`, async () => {
      const folder = temporaryFolder();
      const [script, file, captions] = ["show.txt", `show.${ending}`, "show.vtt"].map((name) =>
        join(folder, name),
      );
      writeFileSync(script!, SCRIPT);
      const say = ["say", "--dialogue", "-f", script!, "-o", file!, "--captions", captions!];
      const spoken = await runAntiphon([...say, "--voice", "anna=clara, Ben=theo"]);
      assert.equal(spoken.code, 0, spoken.stderr);
      assert.match(spoken.stderr, /^Voices: Anna: Clara, Ben: Theo\.\n/);
      const shown = readFileSync(captions!, "utf8")
        .split("\n\n")
        .slice(1, -1)
        .map((cue) => cue.split("\n").slice(1).join(" "));
      assert.deepEqual(shown, [
        "<v Anna>Good morning, Ben!",
        "<v Anna>Did you sleep well?",
        "<v Ben>Like a log.",
        "<v Ben>And",
        "<v Anna>Wait!",
        "<v Anna>What was that?",
        "<v Ben>It was only the wind, I think.",
      ]);
      const bytes = readFileSync(file!);
      const encoding = ending === "mp3" ? "utf16le" : "utf8";
      for (const title of ["At home", "In the kitchen"])
        assert.ok(bytes.includes(Buffer.from(title, encoding)), title);
    });

  it("resumes in antiphon say, unless a line that was spoken has another speaker or direction", async () => {
    const folder = temporaryFolder();
    const [script = "", file = ""] = ["show.txt", "show.wav"].map((name) => join(folder, name));
    const words = "The old man put down his cup, and looked out at the rain for a while.";
    const say = (first: string, options = {}) => {
      writeFileSync(script, `${first}: ${words}\n${`Ben: ${words}\nAnna: ${words}\n`.repeat(5)}`);
      return runProgram(["say", "--dialogue", "-f", script, "-o", file], options);
    };
    const cut = await say("Anna", { before: "ulimit -f 1300" });
    assert.equal(cut.code, 1);
    assert.match(cut.stderr, /^1\d %, \d:\d\d spoken/m);
    for (const first of ["Ben", "Anna (sadly)"]) {
      const { code, stderr } = await say(first);
      assert.equal(code, 2);
      assert.match(stderr, /\nAnother text was begun under this name/);
    }
    const rest = await say("Anna");
    assert.equal(rest.code, 0, rest.stderr);
    assert.match(rest.stderr, /\nGoing on after \d:\d\d /);
  });

  it("refuses wrong calls of antiphon say", async () => {
    const say = (...args: readonly string[]) => runAntiphon(["say", "--dialogue", ...args, "-o", "x.mp3"]);
    for (const [args, message] of [
      [["Hello."], /^This cannot be said: script line 1: no speaker is named/],
      [["Anna: Hi.", "--voice", "maya"], /^--voice "maya" names no speaker: write Anna=maya,Ben=theo\.$/m],
      [["Anna: Hi.", "--voice", "Anna=nobody"], /^This cannot be said: voices\["Anna"\] "nobody" is unknown/],
      [["Anna: Hi.", "--speaker", "1"], /^A dialogue has a voice for each speaker/],
    ] as const) {
      const { code, stderr } = await say(...args);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  });
});
