import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { chapterComments, id3Chapters } from "../../src/audio/encode/chapters.ts";
import { decode } from "../audio/encode/decoders.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { within } from "../waiting.ts";
import { temporaryFolder } from "./folders.ts";
import { antiphon, finished, launchAntiphon } from "./program.ts";

const LINE = "The old man put down his cup, and looked out at the rain for a while. ";
const CHAPTER = (title: string, lines: number) =>
  `# ${title}\n\n${LINE.repeat(lines)}\n\n${LINE.repeat(lines)}\n\n`;
const BOOK = CHAPTER("The Rain", 6) + CHAPTER("The *Sun*", 6);
const STILL = ["--params", '{"temperature":0}'];

function bookIn(folder: string, text = BOOK): string {
  const file = join(folder, "book.md");
  writeFileSync(file, text);
  return file;
}

describe("antiphon say, of a long text", () => {
  it("speaks SSML of any length, with its pauses and without its marks, and refuses it with the place", async () => {
    const folder = temporaryFolder();
    const [file, spoken] = [join(folder, "long.ssml"), join(folder, "long.wav")];
    const filling = `<!-- ${"x".repeat(9_000)} -->`;
    writeFileSync(
      file,
      `<speak>Good ${filling}<break time="2s"/> <lang xml:lang="fr">evening</lang>.</speak>`,
    );
    const said = await antiphon(["say", "--ssml", "-f", file, ...STILL, "-o", spoken]);
    assert.equal(said.code, 0, said.stderr);
    assert.match(said.stderr, /^Not followed: <lang> xml:lang fr is ignored: English is spoken\.\n/);
    const lengthS = (readFileSync(spoken).length - 44) / 48_000;
    assert.ok(lengthS > 3 && lengthS < 4.5, `${lengthS} s`);
    writeFileSync(file, `<speak>\n${filling}<p>Good evening.</speak>`);
    const wrong = await antiphon(["say", "-f", file, "-o", spoken]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /^This cannot be said: text: line 2, column \d+: .*<p>.*\.\n$/);
  });

  for (const kind of ["wav", "mp3"] as const)
    it(`goes on where it was killed: the same bytes of ${kind} and captions, and the last word where it is heard`, async () => {
      const folder = temporaryFolder();
      const say = (name: string) => [
        "say",
        "-f",
        bookIn(folder),
        "-o",
        join(folder, `${name}.${kind}`),
        "--captions",
        join(folder, `${name}.vtt`),
      ];
      const whole = await antiphon(say("whole"));
      assert.deepEqual([whole.code, whole.stdout], [0, ""]);
      assert.match(whole.stderr, /^About \d:\d\d of speech\.\n/);
      const child = launchAntiphon(say("cut"));
      const journal = `cut.${kind}.part.json`;
      const kept = new Promise<void>((resolve) => {
        const watcher = watch(folder, () => {
          if (!existsSync(join(folder, journal))) return;
          watcher.close();
          resolve();
        });
      });
      await within("the end of a passage", kept);
      child.kill("SIGKILL");
      await once(child, "close");
      assert.ok(!existsSync(join(folder, `cut.${kind}`)));
      const resumed = await antiphon(say("cut"));
      assert.equal(resumed.code, 0, resumed.stderr);
      assert.match(resumed.stderr, /^Going on after \d:\d\d that were spoken before\.\n/);
      const [sound, vtt] = [kind, "vtt"].map((ending) => readFileSync(join(folder, `whole.${ending}`)));
      assert.ok(readFileSync(join(folder, `cut.${kind}`)).equals(sound!));
      assert.ok(readFileSync(join(folder, "cut.vtt")).equals(vtt!));
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.includes(".part")),
        [],
      );
      if (kind === "wav") assert.equal(sound!.readUInt32LE(40), sound!.length - 44);
      const [, end] = [...`${vtt}`.matchAll(/--> (?:00:)?(\d\d):(\d\d\.\d+)/g)]
        .map(([, m, s]) => 60 * Number(m) + Number(s))
        .slice(-2);
      const { samples } = await decode(kind, sound!);
      const heardS = samples.findLastIndex((sample) => Math.abs(sample) > 0.001) / 24_000;
      assert.ok(Math.abs(end! - heardS) < 0.25, `the last caption ends at ${end}, the sound at ${heardS}`);
    });

  it("has its chapters in one file each", async () => {
    const folder = temporaryFolder();
    const said = await runAntiphon([
      "say",
      "-f",
      bookIn(folder),
      "-o",
      join(folder, "b.mp3"),
      "--chapters",
      "files",
      "--captions",
      join(folder, "b.srt"),
    ]);
    assert.equal(said.code, 0, said.stderr);
    assert.deepEqual(readdirSync(folder).toSorted(), [
      "b-01.mp3",
      "b-01.srt",
      "b-02.mp3",
      "b-02.srt",
      "book.md",
    ]);
    assert.match(readFileSync(join(folder, "b-02.srt"), "utf8"), /^1\n00:00:00,\d+ --> [\d:,]+\nThe Sun\.\n/);
  });

  it("says what is kept, in one sentence, where it ends badly, and goes on with no other text", async () => {
    const folder = temporaryFolder();
    const output = join(folder, "b.wav");
    const say = ["say", "-f", bookIn(folder), ...STILL, "-o", output];
    const full = await antiphon(say, { before: "ulimit -f 3500" });
    assert.equal(full.code, 1);
    assert.match(
      full.stderr,
      /\nThe file cannot be written \(EFBIG\)\. \d:\d\d of speech are kept: give the same command again to go on\.\n$/,
    );
    assert.doesNotMatch(full.stderr, /\bat .*\.js:/);
    bookIn(folder, BOOK.replaceAll("rain", "snow"));
    const other = await runAntiphon(say);
    assert.equal(other.code, 2);
    assert.match(
      other.stderr,
      /\nAnother text was begun under this name: delete .*b\.wav\.part\.json to begin anew\.\n$/,
    );
    bookIn(folder);
    writeFileSync(`${output}.part.pid`, "1\n");
    const beside = await runAntiphon(say);
    assert.equal(beside.code, 2);
    assert.match(
      beside.stderr,
      /b\.wav is being written by another process \(1\): wait for it, or, if that is not Antiphon, delete .*\.pid\.\n$/,
    );
    writeFileSync(`${output}.part.pid`, "999999999\n");
    const deeper = await runAntiphon([...say, "--voice", "onyx", "--chapters", "files"]);
    assert.equal(deeper.code, 2);
    assert.match(
      deeper.stderr,
      /b\.wav was begun with other options \(--voice, --chapters\): give the same again, or delete .*b\.wav\.part\.json to begin anew\.\n$/,
    );
    const rest = await runAntiphon(["say", "--params", '{ "temperature": 0 }', ...say.slice(1)]);
    assert.equal(rest.code, 0, rest.stderr);
    await runAntiphon([...say.slice(0, -1), join(folder, "calm.wav")]);
    assert.ok(readFileSync(output).equals(readFileSync(join(folder, "calm.wav"))));
    const child = launchAntiphon([...say.slice(0, -1), join(folder, "c.mp3")]);
    child.stderr?.once("data", () => child.kill("SIGINT"));
    const stopped = await within("the end", finished(child), { deadlineMs: 60_000 });
    assert.equal(stopped.code, 1);
    const isKept = /It was stopped\. \d:\d\d of speech are kept: .*\n$/.test(stopped.stderr);
    assert.ok(isKept || /It was stopped\. Nothing is kept of it\.\n$/.test(stopped.stderr), stopped.stderr);
    const left = readdirSync(folder).filter((name) => name.startsWith("c."));
    assert.equal(left.length > 0, isKept, `${left}`);
  });

  it("has its silences where they are, also between headings", async () => {
    const folder = temporaryFolder();
    const output = join(folder, "b.wav");
    const say = ["say", "-f", bookIn(folder, "# One\n\n[pause:5s]\n\n# Two\n\n!?"), ...STILL, "-o", output];
    const said = await runAntiphon(say);
    assert.equal(said.code, 0, said.stderr);
    const lengthS = (readFileSync(output).length - 44) / 48_000;
    assert.ok(lengthS > 6.5 && lengthS < 9, `${lengthS} s`);
  });

  it("comes out of a pipe as it is made, and into one", async () => {
    const text = `${LINE.repeat(120)}`;
    assert.ok(text.length > 8_000);
    const said = await antiphon(["say", "-", ...STILL], { input: text });
    assert.equal(said.code, 0, said.stderr);
    assert.ok(said.bytes.length > 48_000 * 0.05 * text.length, "all of it");
    assert.equal(said.bytes.readUInt32LE(40), 0xffff_ffff);
  });

  it("tells where whoever reads it leaves before the end, and where it cannot be written", async () => {
    for (const text of ["The old man put down his cup.", LINE.repeat(120)]) {
      const child = launchAntiphon(["say", "-", ...STILL]);
      child.stdin?.end(text);
      child.stdout?.destroy();
      const left = await within("the end", finished(child), { deadlineMs: 60_000 });
      assert.equal(left.code, 1);
      assert.match(left.stderr, /^(?:.*\n)?Standard output was closed before all was spoken\.\n$/);
    }
    const full = await antiphon(["say", "The old man put down his cup."], { before: "exec > /dev/full" });
    assert.deepEqual([full.code, full.stderr], [1, "Standard output cannot be written (ENOSPC).\n"]);
  });

  it("says how much was spoken of what --params cuts", async () => {
    const said = await runAntiphon([
      "say",
      "One is first. Two is next. Three is last.",
      "--params",
      '{"max_new_tokens":16}',
    ]);
    assert.equal(said.code, 0);
    assert.match(said.stderr, /^Only \d\d of 41 characters were spoken: max_new_tokens is 16\.\n$/);
  });

  it("has nothing to speak where there is none", async () => {
    const folder = temporaryFolder();
    const said = await runAntiphon([
      "say",
      "-f",
      bookIn(folder, "```\nlet x;\n```\n"),
      "-o",
      join(folder, "x.mp3"),
    ]);
    assert.deepEqual(
      [said.code, said.stderr.split("\n").at(-2)],
      [2, "There is nothing to speak in this text."],
    );
    assert.deepEqual(readdirSync(folder), ["book.md"]);
    const signs = await runAntiphon(["say", "-", "-o", join(folder, "x.mp3")], {
      input: new Uint8Array(5_000_000),
    });
    assert.deepEqual([signs.code, signs.stderr], [2, "There is nothing to speak in this text.\n"]);
  });

  it("is refused with what to do", async () => {
    const folder = temporaryFolder();
    const latin = join(folder, "latin.txt");
    writeFileSync(latin, Buffer.from([0x63, 0x61, 0x66, 0xe9]));
    const long = join(folder, "long.txt");
    writeFileSync(long, "x ".repeat(1_000_000));
    const late = join(folder, "late.md");
    writeFileSync(late, `${BOOK}Then it [pause:1h] ends.\n`);
    const nobody = join(folder, "nobody.ssml");
    const saidBy = '<voice name="nobody">him</voice>';
    writeFileSync(
      nobody,
      `<speak>${"<p>It was said by someone.</p>".repeat(400)}\n<p>By ${saidBy}.</p></speak>`,
    );
    const epub = join(folder, "book.epub");
    writeFileSync(epub, Buffer.from([0x50, 0x4b, 3, 4, 0xff, 0xfe]));
    for (const [line, message] of [
      [["say"], /^Give a text to speak, a file with --file, or - for standard input\.\n$/],
      [["say", "a", "-f", long], /^Give the text, or --file, but not both\.\n$/],
      [["say", "-f", folder], /is a folder: name a file with --file\.\n$/],
      [["say", "-f", join(folder, "none")], /cannot be read \(ENOENT\): name another\.\n$/],
      [
        ["say", "-f", late, "-o", "b.wav"],
        /^This cannot be said: the text from "The old man.*" on: line \d, column 9: \[pause:…\] has no length/,
      ],
      [
        ["say", "-f", nobody, "-o", "b.wav"],
        /^This cannot be said: text: line 2, column 7: voice "nobody" is unknown: the voices are "0"/,
      ],
      [
        ["say", `<speak>By ${saidBy}</speak>`],
        /^This cannot be said: text: line 1, column 11: voice "nobody"/,
      ],
      [
        ["say", "-f", epub],
        /looks like an EPUB, .* convert it to text or Markdown first, as with pandoc -t gfm\.\n$/,
      ],
      [["say", "-f", latin], /is not UTF-8: convert it first, as with iconv/],
      [
        ["say", "-f", long, "-o", "b.wav"],
        /are more than a WAV holds, which is 24:51:\d\d: end the name b\.wav in \.mp3/,
      ],
      [
        ["say", "-f", long, "--captions", "b.vtt"],
        /^Captions of a long text need its file beside them: add -o\.\n$/,
      ],
      [["say", "-f", long, "-o", "/dev/null"], /^\/dev\/null is not a file: name another with -o/],
      [
        ["say", "-f", long, "-o", "b.mp3", "--params", '{"max_new_tokens":64}'],
        /^max_new_tokens in --params is for a text of one request: leave it out/,
      ],
      [["say", "a", "--chapters", "pages"], /^--chapters is "pages": write marks or files\.\n$/],
      [
        ["say", "a", "--chapters", "files"],
        /^--chapters files needs a name: add -o, as in -o book\.mp3\.\n$/,
      ],
    ] as const) {
      const said = await runAntiphon(line);
      assert.deepEqual([said.code, said.stdout], [2, ""], said.stderr);
      assert.match(said.stderr, message);
    }
  });
});

describe("chapters of a file", () => {
  const chapters = Array.from({ length: 500 }, (_, at) => ({
    title: `${"Ünï ".repeat(40)}${at}`,
    startS: 10 * at,
  }));

  it("are bounded, whatever they are called", () => {
    const comments = chapterComments(chapters);
    assert.ok(comments.length > 100);
    assert.ok(comments.reduce((sum, each) => sum + 4 + Buffer.byteLength(each), 0) < 65_000);
    assert.deepEqual(chapterComments([{ title: " A\nb ", startS: 3_723.4567 }]), [
      "CHAPTER001=01:02:03.457",
      "CHAPTER001NAME=A b",
    ]);
    assert.ok(id3Chapters(chapters, 5_000).length < 120_000);
  });
});
