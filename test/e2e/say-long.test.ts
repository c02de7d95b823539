import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { chapterComments, id3Tag } from "../../src/audio/encode/chapters.ts";
import { decode } from "../audio/encode/decoders.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { within } from "../waiting.ts";
import { temporaryFolder } from "./folders.ts";
import { antiphon, finished, launchAntiphon } from "./program.ts";

const LINE = "The old man put down his cup, and looked out at the rain for a while. ";
const CHAPTER = (title: string) => `# ${title}\n\n${LINE.repeat(2)}\n\n${LINE.repeat(2)}\n\n`;
const BOOK = CHAPTER("The Rain") + CHAPTER("The *Sun*");
const TEMPERATURE_0 = ["--params", '{"temperature":0}'];
/** More characters than one request takes, none of them spoken. */
const COMMENT = `<!-- ${"x".repeat(9_000)} -->`;

const say = (...args: readonly string[]) => runAntiphon(["say", ...args]);
const secondsOf = (wav: string) => (readFileSync(wav).length - 44) / 48_000;

function fileIn(folder: string, text: string | Uint8Array = BOOK, name = "book.md"): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe("antiphon say, with a long text", () => {
  it("speaks SSML with its pauses, and reports the place of an error", async () => {
    const folder = temporaryFolder();
    const wav = join(folder, "long.wav");
    const ssml = `<speak>Good ${COMMENT}<break time="2s"/> <lang xml:lang="fr">evening</lang>.</speak>`;
    const spoken = await say("--ssml", "-f", fileIn(folder, ssml), ...TEMPERATURE_0, "-o", wav);
    assert.equal(spoken.code, 0, spoken.stderr);
    assert.match(spoken.stderr, /^Not followed: <lang> xml:lang fr is ignored/);
    assert.ok(secondsOf(wav) > 3 && secondsOf(wav) < 4.5, `${secondsOf(wav)} s`);
    const wrong = await say("-f", fileIn(folder, `<speak>\n${COMMENT}<p>Good evening.</speak>`), "-o", wav);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /^This cannot be said: text: line 2, column \d+: .*<p>.*\.\n$/);
  });

  for (const kind of ["wav", "mp3"] as const)
    it(`resumes a killed ${kind} with the same bytes and captions`, async () => {
      const folder = temporaryFolder();
      const command = (name: string) => [
        ...["say", "-f", fileIn(folder), "-o", join(folder, `${name}.${kind}`)],
        ...["--captions", join(folder, `${name}.vtt`)],
      ];
      const whole = await runAntiphon(command("whole"));
      assert.deepEqual([whole.code, whole.stdout], [0, ""]);
      assert.match(whole.stderr, /^About \d:\d\d of speech\.\n/);
      const child = launchAntiphon(command("cut"));
      const journal = join(folder, `cut.${kind}.part.json`);
      const passageEnded = new Promise<void>((resolve) => {
        const watcher = watch(folder, () => {
          if (!existsSync(journal)) return;
          watcher.close();
          resolve();
        });
      });
      await within("the end of a passage", passageEnded);
      child.kill("SIGKILL");
      await once(child, "close");
      assert.ok(!existsSync(join(folder, `cut.${kind}`)));
      const resumed = await runAntiphon(command("cut"));
      assert.equal(resumed.code, 0, resumed.stderr);
      assert.match(resumed.stderr, /^Going on after \d:\d\d that were spoken before\.\n/);
      const [sound, vtt] = [kind, "vtt"].map((ending) => readFileSync(join(folder, `whole.${ending}`)));
      assert.ok(readFileSync(join(folder, `cut.${kind}`)).equals(sound!));
      assert.ok(readFileSync(join(folder, "cut.vtt")).equals(vtt!));
      assert.equal(readdirSync(folder).filter((name) => name.includes(".part")).length, 0);
      if (kind === "wav") assert.equal(sound!.readUInt32LE(40), sound!.length - 44);
      const [, captionEndS] = [...`${vtt}`.matchAll(/--> (?:00:)?(\d\d):(\d\d\.\d+)/g)]
        .map(([, m, s]) => 60 * Number(m) + Number(s))
        .slice(-2);
      const { samples } = await decode(kind, sound!);
      const soundEndS = samples.findLastIndex((sample) => Math.abs(sample) > 0.001) / 24_000;
      assert.ok(Math.abs(captionEndS! - soundEndS) < 0.25, `${captionEndS} s and ${soundEndS} s`);
    });

  it("writes one file per chapter with --chapters files, each with its title, the book's and the author", async () => {
    const folder = temporaryFolder();
    const [mp3, srt] = [join(folder, "b.mp3"), join(folder, "b.srt")];
    const book = fileIn(folder, `---\ntitle: 'Rain: a story'\nauthor: Nobody\n---\n\n${BOOK}`);
    const options = ["--chapters", "files", "--captions", srt, "--author", "Ann Äpfel"];
    const spoken = await say("-f", book, "-o", mp3, ...options);
    assert.equal(spoken.code, 0, spoken.stderr);
    const files = ["b-01.mp3", "b-01.srt", "b-02.mp3", "b-02.srt", "book.md"];
    assert.deepEqual(readdirSync(folder).toSorted(), files);
    const sound = readFileSync(join(folder, "b-02.mp3"));
    for (const text of ["The Sun", "Rain: a story", "Ann Äpfel"])
      assert.ok(sound.subarray(0, 500).includes(Buffer.from(text, "utf16le")), text);
    assert.ok(!sound.subarray(0, 500).includes(Buffer.from("Nobody", "utf16le")));
    assert.match(readFileSync(join(folder, "b-02.srt"), "utf8"), /^1\n00:00:00,\d+ --> [\d:,]+\nThe Sun\.\n/);
  });

  it("reports what a failed run kept, and resumes only the same command", async () => {
    const folder = temporaryFolder();
    const output = join(folder, "b.wav");
    const command = ["-f", fileIn(folder), ...TEMPERATURE_0, "-o", output];
    const full = await antiphon(["say", ...command], { before: "ulimit -f 1300" });
    assert.equal(full.code, 1);
    assert.match(full.stderr, /\nThe file cannot be written \(EFBIG\)\. \d:\d\d of speech are kept:/);
    const refuses = async (line: readonly string[], message: RegExp) => {
      const { code, stderr } = await say(...line);
      assert.equal(code, 2);
      assert.match(stderr, message);
    };
    fileIn(folder, BOOK.replaceAll("rain", "snow"));
    await refuses(command, /\nAnother text was begun under this name: delete .*b\.wav\.part\.json/);
    fileIn(folder);
    writeFileSync(`${output}.part.pid`, "1\n");
    await refuses(command, /b\.wav is being written by another process \(1\): .* delete .*\.pid\.\n$/);
    writeFileSync(`${output}.part.pid`, "999999999\n");
    await refuses(
      [...command, "--voice", "onyx", "--chapters", "files"],
      /b\.wav was begun with other options \(--voice, --chapters\): .* delete .*b\.wav\.part\.json/,
    );
    const rest = await say("--params", '{ "temperature": 0 }', ...command);
    assert.equal(rest.code, 0, rest.stderr);
    await say(...command.slice(0, -1), join(folder, "calm.wav"));
    assert.ok(readFileSync(output).equals(readFileSync(join(folder, "calm.wav"))));
  });

  it("reports on SIGINT whether speech was kept", async () => {
    const folder = temporaryFolder();
    const child = launchAntiphon(["say", "-f", fileIn(folder), "-o", join(folder, "c.mp3")]);
    child.stderr?.once("data", () => child.kill("SIGINT"));
    const stopped = await within("the end", finished(child), { deadlineMs: 60_000 });
    assert.equal(stopped.code, 1);
    const isKept = /It was stopped\. \d:\d\d of speech are kept: .*\n$/.test(stopped.stderr);
    assert.ok(isKept || /It was stopped\. Nothing is kept of it\.\n$/.test(stopped.stderr), stopped.stderr);
    assert.equal(
      readdirSync(folder).some((name) => name.startsWith("c.")),
      isKept,
    );
  });

  it("keeps silences between headings", async () => {
    const folder = temporaryFolder();
    const output = join(folder, "b.wav");
    const book = fileIn(folder, "# One\n\n[pause:5s]\n\n# Two\n\n!?");
    const spoken = await say("-f", book, ...TEMPERATURE_0, "-o", output);
    assert.equal(spoken.code, 0, spoken.stderr);
    assert.ok(secondsOf(output) > 6.5 && secondsOf(output) < 9, `${secondsOf(output)} s`);
  });

  it("streams a WAV of unknown length from standard input to standard output", async () => {
    const input = `<speak>${COMMENT}${LINE.repeat(3)}</speak>`;
    const spoken = await antiphon(["say", "-", ...TEMPERATURE_0], { input });
    assert.equal(spoken.code, 0, spoken.stderr);
    assert.ok(spoken.bytes.length > 48_000 * 0.05 * 3 * LINE.length);
    assert.equal(spoken.bytes.readUInt32LE(40), 0xffff_ffff);
  });

  it("reports a closed or full standard output", async () => {
    for (const text of ["The old man put down his cup.", `<speak>${COMMENT}${LINE.repeat(3)}</speak>`]) {
      const child = launchAntiphon(["say", "-", ...TEMPERATURE_0]);
      child.stdin?.end(text);
      child.stdout?.destroy();
      const closed = await within("the end", finished(child), { deadlineMs: 60_000 });
      assert.equal(closed.code, 1);
      assert.match(closed.stderr, /^(?:.*\n)?Standard output was closed before all was spoken\.\n$/);
    }
    const full = await antiphon(["say", "The old man put down his cup."], { before: "exec > /dev/full" });
    assert.deepEqual([full.code, full.stderr], [1, "Standard output cannot be written (ENOSPC).\n"]);
  });

  it("reports how many characters max_new_tokens let it speak", async () => {
    const spoken = await say(
      "One is first. Two is next. Three is last.",
      "--params",
      '{"max_new_tokens":16}',
    );
    assert.equal(spoken.code, 0);
    assert.match(spoken.stderr, /^Only \d\d of 41 characters were spoken: max_new_tokens is 16\.\n$/);
  });

  it("refuses a text with nothing to speak", async () => {
    const folder = temporaryFolder();
    const mp3 = join(folder, "x.mp3");
    const code = await say("-f", fileIn(folder, "```\nlet x;\n```\n"), "-o", mp3);
    assert.deepEqual(
      [code.code, code.stderr.split("\n").at(-2)],
      [2, "There is nothing to speak in this text."],
    );
    assert.deepEqual(readdirSync(folder), ["book.md"]);
    const zeros = await runAntiphon(["say", "-", "-o", mp3], { input: new Uint8Array(500_000) });
    assert.deepEqual([zeros.code, zeros.stderr], [2, "There is nothing to speak in this text.\n"]);
  });

  it("refuses wrong calls and unreadable files with exit code 2", async () => {
    const folder = temporaryFolder();
    const latin = fileIn(folder, Buffer.from([0x63, 0x61, 0x66, 0xe9]), "latin.txt");
    const long = fileIn(folder, "x ".repeat(1_000_000), "long.txt");
    const late = fileIn(folder, `${BOOK}Then it [pause:1h] ends.\n`, "late.md");
    const by = '<voice name="nobody">him</voice>';
    const paragraphs = "<p>It was said by someone.</p>".repeat(400);
    const unknownVoice = fileIn(folder, `<speak>${paragraphs}\n<p>By ${by}.</p></speak>`, "unknown.ssml");
    const epub = fileIn(folder, Buffer.from([0x50, 0x4b, 3, 4, 0xff, 0xfe]), "book.epub");
    for (const [line, message] of [
      [[], /^Give a text to speak, a file with --file, or - for standard input/],
      [["a", "-f", long], /^Give the text, or --file, but not both/],
      [["-f", folder], /is a folder: name a file with --file/],
      [["-f", join(folder, "none")], /cannot be read \(ENOENT\)/],
      [["-f", late, "-o", "b.wav"], /text from "The old man.*" on: line \d, column 9: \[pause:…\] has no/],
      [["-f", unknownVoice, "-o", "b.wav"], /text: line 2, column 7: voice "nobody" is unknown/],
      [[`<speak>By ${by}</speak>`], /text: line 1, column 11: voice "nobody"/],
      [["-f", epub], /looks like an EPUB, .* pandoc/],
      [["-f", latin], /is not UTF-8: convert it first, as with iconv/],
      [["-f", long, "-o", "b.wav"], /are more than a WAV holds, which is 24:51:\d\d/],
      [["-f", long, "--captions", "b.vtt"], /^Captions of a long text need an output file: add -o/],
      [["-f", long, "-o", "/dev/null"], /^\/dev\/null is not a file/],
      [["-f", long, "-o", "b.mp3", "--params", '{"max_new_tokens":64}'], /^max_new_tokens in --params is/],
      [["a", "--chapters", "pages"], /^--chapters is "pages": write marks or files/],
      [["a", "--title", "A", "-o", "b.wav"], /^A WAV has no --title and --author: end the name after -o in/],
      [["a", "--chapters", "files"], /^--chapters files needs a name: add -o/],
    ] as const) {
      const { code, stdout, stderr } = await say(...line);
      assert.deepEqual([code, stdout], [2, ""], stderr);
      assert.match(stderr, message);
    }
  });
});

describe("the chapters of an audio file", () => {
  it("have bounded titles and count", () => {
    const title = (at: number) => `${"Ünï ".repeat(40)}${at}`;
    const chapters = Array.from({ length: 500 }, (_, at) => ({ title: title(at), startS: 10 * at }));
    const comments = chapterComments(chapters);
    assert.ok(comments.length > 100);
    assert.ok(comments.reduce((sum, each) => sum + 4 + Buffer.byteLength(each), 0) < 65_000);
    assert.ok(id3Tag(chapters, 5_000, []).length < 120_000);
    const [time, name] = chapterComments([{ title: " A\nb ", startS: 3_723.4567 }]);
    assert.deepEqual([time, name], ["CHAPTER001=01:02:03.457", "CHAPTER001NAME=A b"]);
  });
});
