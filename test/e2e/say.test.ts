import assert from "node:assert/strict";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { loudnessOf } from "../../src/audio/loudness.ts";
import { decoded } from "../audio/recordings/decoded.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { type Client, clientOf, okay } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { antiphon, type Finished } from "./program.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { assertSpeech } from "./speech.ts";

const TEXT = "We met at the harbour.";
const CLIP_TEXT = "We met at the harbour, well before sunrise.";
const params = { temperature: 0 };
const TEMPERATURE_0 = ["--params", JSON.stringify(params)];

const say = (...args: readonly string[]) => runAntiphon(["say", ...args]);

/** Checks that a command failed with one sentence, no stack and no output; returns the sentence. */
function refusal({ code, stdout, stderr }: Finished, exitCode: 1 | 2): string {
  assert.deepEqual([code, stdout.length], [exitCode, 0], stderr);
  assert.match(stderr, /^[A-Z-][^\n]+[.?]\n$/, "one sentence");
  assert.doesNotMatch(stderr, /\bat .*\.[jt]s:\d+|Error:/, "no stack");
  return stderr;
}

describe("antiphon say", () => {
  const folder = temporaryFolder();
  const path = (name: string) => join(folder, name);
  let server: ServerProcess;
  let client: Client;
  /** A clip of voice 1, as a file and as base64. */
  let clip: string;
  let audio_wav_b64: string;
  before(async () => {
    server = await startServerProcess();
    client = clientOf(server.url, server.key);
    const reply = await okay(await client.post("/v1/tts", { text: CLIP_TEXT, speaker: "1", params }));
    audio_wav_b64 = reply.audio.data_b64;
    clip = path("a clip.wav");
    writeFileSync(clip, Buffer.from(audio_wav_b64, "base64"));
  });
  after(() => server.stop());

  it("speaks the server's samples at temperature 0, into a file or a pipe", async () => {
    const file = path("spoken.wav");
    const intoFile = await say(TEXT, ...TEMPERATURE_0, "-o", file);
    assert.deepEqual([intoFile.code, intoFile.stdout.length, intoFile.stderr], [0, 0, ""]);
    const piped = await antiphon(["say", "-", ...TEMPERATURE_0], { input: TEXT });
    assert.deepEqual([piped.code, piped.stderr], [0, ""]);
    const wav = readFileSync(file);
    assertSpeech(wav);
    assert.ok(piped.bytes.equals(wav));
    assert.ok((await client.tts({ text: TEXT, params })).equals(wav.subarray(44)));
  });

  it("brings a file to a loudness, short or long", async () => {
    const long = path("long.txt");
    writeFileSync(long, "We met at the harbour. ".repeat(8).concat("\n\n").repeat(25));
    for (const [words, file] of [
      [[TEXT], path("loud.wav")],
      [["-f", long], path("loud.mp3")],
    ] as const) {
      const spoken = await say(...words, ...TEMPERATURE_0, "--loudness", "-18", "-o", file);
      assert.equal(spoken.code, 0, spoken.stderr);
      const { samples, sampleRateHz } = await decoded(readFileSync(file), 1_000);
      const lufs = loudnessOf(samples, sampleRateHz)!;
      assert.ok(Math.abs(lufs + 18) < 0.2, `${lufs}`);
    }
    assert.match(refusal(await say(TEXT, "--loudness", "loud"), 2), /loudness must be a number/);
  });

  it("speaks SSML, and reports the elements that it ignores", async () => {
    const [plain, marked] = [path("plain.wav"), path("marked.wav")];
    const ssml = '<speak>Good <break time="2s"/> <lang xml:lang="fr-FR">evening</lang>.</speak>';
    const spoken = await say("--ssml", ssml, ...TEMPERATURE_0, "-o", marked);
    assert.equal(spoken.code, 0);
    assert.equal(spoken.stderr, "Not followed: <lang> xml:lang fr-FR is ignored.\n");
    assert.equal((await say("Good evening.", ...TEMPERATURE_0, "-o", plain)).code, 0);
    const moreS = (readFileSync(marked).length - readFileSync(plain).length) / 48_000;
    assert.ok(moreS > 1.9 && moreS < 2.5, `${moreS}`);
    const wrong = refusal(await say("--ssml", "Good evening.", "-o", marked), 2);
    assert.match(wrong, /text: line 1, column 1: SSML begins with <speak>/);
  });

  it("writes captions, with word times on request", async () => {
    const [vtt, srt] = [path("tea.vtt"), path("tea.srt")];
    const command = ["Tea costs $5. Bye.", ...TEMPERATURE_0, "-o", path("tea.wav")];
    const timed = await say(...command, "--captions", vtt, "--words");
    assert.deepEqual([timed.code, timed.stderr], [0, ""]);
    assert.match(readFileSync(vtt, "utf8"), /^WEBVTT\n\n00:00:00\.\d+ --> 00:00:01\.\d+\nTea <[\d:.]+>costs/);
    assert.equal((await say(...command, "--captions", srt)).code, 0);
    assert.match(readFileSync(srt, "utf8"), /^1\n00:00:00,\d+ --> [\d:,]+\nTea costs \$5\.\n\n2\n/);
    assert.match(refusal(await say(...command, "--captions", path("tea.txt")), 2), /\.vtt or \.srt/);
    assert.match(refusal(await say(...command, "--captions", srt, "--words"), 2), /\.vtt/);
  });

  it("encodes the format that the file name ends in", async () => {
    const magic = {
      "a.mp3": "fff3",
      "a.opus": "4f676753",
      "B.OGG": "4f676753",
      "a.flac": "664c6143",
      a: "52494646",
    };
    for (const [name, start] of Object.entries(magic)) {
      const { code, stderr } = await say("Hi.", ...TEMPERATURE_0, "-o", path(name));
      assert.deepEqual([code, stderr], [0, ""]);
      assert.ok(readFileSync(path(name)).toString("hex").startsWith(start), name);
    }
  });

  it("speaks the server's samples with --speaker and --model", async () => {
    const plain = await client.tts({ text: TEXT, params });
    for (const [flag, field, value] of [
      ["--speaker", "speaker", "1"],
      ["--model", "model", "svc-atom-beta-v0.1"],
    ] as const) {
      const { code, bytes, stderr } = await say(TEXT, ...TEMPERATURE_0, flag, value);
      assert.deepEqual([code, stderr], [0, ""]);
      assertSpeech(bytes);
      const served = await client.tts({ text: TEXT, params, [field]: value });
      assert.ok(served.equals(bytes.subarray(44)), flag);
      if (field === "speaker") assert.ok(!served.equals(plain), "the speakers differ");
    }
  });

  it("speaks the samples of POST /v1/converse with --voice-like", async () => {
    for (const [speaker, model] of [
      ["0", "svc-beta-v0.3"],
      ["1", "svc-beta-v0.1"],
    ] as const) {
      const flags = ["--voice-like", clip, ...TEMPERATURE_0];
      const spoken = await say("Good morning.", ...flags, "--speaker", speaker, "--model", model);
      assert.equal(spoken.code, 0, spoken.stderr);
      assert.match(spoken.stderr, /^The recording is followed less closely \(short\): [^\n]*\n$/);
      assertSpeech(spoken.bytes);
      const conversation = [{ audio_wav_b64 }, { text: "Good morning." }].map((turn) => ({
        ...turn,
        speaker,
      }));
      const served = await client.converse({ conversation, params, model });
      assert.ok(served.equals(spoken.bytes.subarray(44)), model);
    }
  });

  it("speaks the server's samples with built-in and custom voices", async () => {
    const at = ["--data-dir", server.dataDir];
    const consent = ["--name", "Anna", "--consent", "She agrees.", "--text", TEXT];
    const added = await runAntiphon(["voices", "add", clip, ...consent, ...at]);
    assert.deepEqual([added.code, added.stderr], [0, ""]);
    for (const voice of ["onyx", "Anna"]) {
      const spoken = await say("Good morning.", "--voice", voice, ...TEMPERATURE_0, ...at);
      assert.deepEqual([spoken.code, spoken.stderr], [0, ""]);
      const served = await client.tts({ text: "Good morning.", voice, params });
      assert.ok(served.equals(spoken.bytes.subarray(44)), voice);
    }
    const { meta } = await okay(
      await client.post("/v1/tts", { text: "Good morning.", voice: "Anna", params }),
    );
    assert.deepEqual([meta.voice.start, meta.voice.turns], ["1", []]);
    assert.ok(meta.voice.trust > 0.9, `${meta.voice.trust}`);
    assert.match(refusal(await say(TEXT, "--voice", "Anne", ...at), 2), /did you mean "Anna"\?/);
    const both = await say(TEXT, "--voice", "Anna", "--voice-like", clip, ...at);
    assert.match(refusal(both, 2), /^Only one of --voice and --voice-like/);
  });

  it("refuses wrong calls and unusable recordings with exit code 2", async () => {
    const file = (name: string, content: string) => {
      writeFileSync(path(name), content);
      return path(name);
    };
    const large = file("large.wav", "RIFF");
    truncateSync(large, 2 ** 32);
    const like = (recording: string) => [TEXT, "--voice-like", recording];
    const noWav = file("$& song.mp3", "ID3 and then some music");
    const calls: readonly [line: readonly string[], message: RegExp][] = [
      [[], /^Give a text to speak, a file with --file/],
      [[TEXT, "--params", "{temperature:0}"], /--params is not JSON/],
      [[TEXT, "--params", '{"temperature":9}'], /temperature.*at most 1\.5/],
      [[TEXT, "--model", "svc-gamma"], /svc-gamma.*unknown/],
      [[""], /text/],
      [["?!"], /nothing speakable/],
      [["?!", "--voice-like", noWav], /nothing speakable/],
      [[TEXT, "-o", path("a.aac")], /\.aac cannot be made: .* \.wav, \.mp3, \.opus, \.ogg, \.flac\.$/m],
      [like(path("none.wav")), /none\.wav cannot be read \(ENOENT\)/],
      [like(folder), /cannot be read \(EISDIR\)/],
      [like(""), /cannot be read \(ENOENT\)/],
      [like(file("empty.wav", "")), /empty\.wav \(--voice-like\): .*empty/],
      [like(noWav), /\$& song\.mp3 \(--voice-like\): undecodable audio/],
      [like(large), /large\.wav \(--voice-like\) is over the cap of 26214400 bytes/],
      [like("/dev/zero"), /\/dev\/zero \(--voice-like\) is over the cap/],
    ];
    for (const [line, message] of calls) assert.match(refusal(await say(...line), 2), message);
  });

  it("exits with 1 if the output file cannot be written", async () => {
    const file = join(folder, "no", "such", "folder.wav");
    assert.ok(refusal(await say("Hi.", "-o", file), 1).includes(file));
  });
});

describe("antiphon phonemes", () => {
  it("prints a line per sentence", async () => {
    const { code, stdout, stderr } = await antiphon(["phonemes", "The cat sat. It did."]);
    assert.deepEqual([code, stderr], [0, ""]);
    const lines = stdout.trimEnd().split("\n");
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? "", /kˈæt/);
  });

  it("prints a JSON array per line of standard input, empty for an empty line", async () => {
    const input = "The cat sat. It did.\n\nA dog.\r\n   \nThe end";
    const { code, stdout, stderr } = await runAntiphon(["phonemes", "-", "--json"], { input });
    assert.deepEqual([code, stderr], [0, ""]);
    const lines: string[][] = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const counts = lines.map(({ length }) => length);
    assert.deepEqual(counts, [2, 0, 1, 0, 1]);
    assert.match(lines[2]?.[0] ?? "", /dˈɔɡ/);
  });
});
