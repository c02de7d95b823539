import assert from "node:assert/strict";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { clientOf, okay } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { antiphon, type Finished } from "./program.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { assertSpeech } from "./speech.ts";

const TEXT = "We met at the harbour, well before sunrise.";
const STILL = '{"temperature":0}';

/** What a command says that cannot do what it was asked: one sentence, no stack, nothing on standard output. */
function refusal({ code, stdout, stderr }: Finished, exitCode: 1 | 2): string {
  assert.deepEqual([code, stdout.length], [exitCode, 0], stderr);
  assert.match(stderr, /^[A-Z-][^\n]+[.?]\n$/, "one sentence");
  assert.doesNotMatch(stderr, /\bat .*\.[jt]s:\d+|Error:/, "no stack");
  return stderr;
}

function written(folder: string, name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

describe("antiphon say", () => {
  let server: ServerProcess;
  before(async () => {
    server = await startServerProcess();
  });
  after(() => server.stop());

  it("says at temperature 0 what the server says, byte for byte, into a file or a pipe, from a line or a pipe", async () => {
    const file = join(temporaryFolder(), "spoken.wav");
    const intoFile = await runAntiphon(["say", TEXT, "--params", STILL, "-o", file]);
    assert.deepEqual([intoFile.code, intoFile.stdout.length, intoFile.stderr], [0, 0, ""]);
    const piped = await antiphon(["say", "-", "--params", STILL], { input: TEXT });
    assert.deepEqual([piped.code, piped.stderr], [0, ""]);
    const wav = readFileSync(file);
    assertSpeech(wav);
    assert.ok(piped.bytes.equals(wav), "the same bytes whichever way they go");
    const client = clientOf(server.url, server.key);
    const served = await client.tts({ text: TEXT, params: { temperature: 0 } });
    assert.ok(served.equals(wav.subarray(44)), "the same samples as POST /v1/tts");
  });

  it("speaks SSML, and tells what of it is not followed", async () => {
    const folder = temporaryFolder();
    const [plain, marked] = [join(folder, "plain.wav"), join(folder, "marked.wav")];
    const ssml = '<speak>Good <break time="2s"/> <lang xml:lang="fr-FR">evening</lang>.</speak>';
    const said = await runAntiphon(["say", "--ssml", ssml, "--params", STILL, "-o", marked]);
    assert.equal(said.code, 0);
    assert.equal(said.stderr, "Not followed: <lang> xml:lang fr-FR is ignored: English is spoken.\n");
    assert.equal((await runAntiphon(["say", "Good evening.", "--params", STILL, "-o", plain])).code, 0);
    const moreS = (readFileSync(marked).length - readFileSync(plain).length) / 48_000;
    assert.ok(moreS > 1.9 && moreS < 2.5, `${moreS}`);
    const wrong = refusal(await runAntiphon(["say", "--ssml", "Good evening.", "-o", marked]), 2);
    assert.match(wrong, /text: line 1, column 1: SSML begins with <speak>/);
  });

  it("writes captions beside the audio, with the time of each word where that is asked for", async () => {
    const folder = temporaryFolder();
    const [vtt, srt, wav] = ["tea.vtt", "tea.srt", "tea.wav"].map((name) => join(folder, name));
    const said = ["say", "Tea costs $5. Bye.", "--params", STILL, "-o", wav!];
    const timed = await runAntiphon([...said, "--captions", vtt!, "--words"]);
    assert.deepEqual([timed.code, timed.stderr], [0, ""]);
    assert.match(
      readFileSync(vtt!, "utf8"),
      /^WEBVTT\n\n00:00:00\.\d+ --> 00:00:01\.\d+\nTea <[\d:.]+>costs <[\d:.]+>\$5\.\n\n00:00:0[12][\d:.]+ --> [\d:.]+\nBye\.\n\n$/,
    );
    assert.equal((await runAntiphon([...said, "--captions", srt!])).code, 0);
    assert.match(readFileSync(srt!, "utf8"), /^1\n00:00:00,\d+ --> [\d:,]+\nTea costs \$5\.\n\n2\n/);
    const unknown = await runAntiphon([...said, "--captions", join(folder, "tea.txt")]);
    assert.match(refusal(unknown, 2), /\.vtt or \.srt/);
    assert.match(refusal(await runAntiphon([...said, "--captions", srt!, "--words"]), 2), /\.vtt/);
  });

  it("writes the kind of file that the end of its name asks for, and refuses one that it cannot", async () => {
    const folder = temporaryFolder();
    const begins = {
      "a.mp3": "fff3",
      "a.opus": "4f676753",
      "B.OGG": "4f676753",
      "a.flac": "664c6143",
      a: "52494646",
    };
    for (const [name, start] of Object.entries(begins)) {
      const file = join(folder, name);
      const { code, stderr } = await runAntiphon(["say", "Good evening.", "--params", STILL, "-o", file]);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.ok(readFileSync(file).toString("hex").startsWith(start), name);
    }
    const said = refusal(await runAntiphon(["say", TEXT, "-o", join(folder, "a.aac")]), 2);
    assert.match(
      said,
      /\.aac cannot be made: end the name after -o in one of \.wav, \.mp3, \.opus, \.ogg, \.flac\.$/m,
    );
  });

  it("speaks in another voice with --speaker 1, and as another model with --model", async () => {
    const others = await Promise.all(
      [
        ["--speaker", "1"],
        ["--model", "svc-atom-beta-v0.1"],
      ].map(async (flags) => {
        const { code, bytes, stderr } = await runAntiphon(["say", TEXT, "--params", STILL, ...flags]);
        assert.deepEqual([code, stderr], [0, ""]);
        assertSpeech(bytes);
        return bytes;
      }),
    );
    const client = clientOf(server.url, server.key);
    const params = { temperature: 0 };
    const served = [
      await client.tts({ text: TEXT, params, speaker: "1" }),
      await client.tts({ text: TEXT, params, model: "svc-atom-beta-v0.1" }),
    ];
    for (const [index, wav] of others.entries()) assert.ok(served[index]?.equals(wav.subarray(44)));
    assert.ok(!served[0]?.equals(await client.tts({ text: TEXT, params })), "two speakers differ");
  });

  it("speaks like the clip that --voice-like names: what POST /v1/converse says, byte for byte", async () => {
    const client = clientOf(server.url, server.key);
    const file = join(temporaryFolder(), "a voice.wav");
    const voice = await client.post("/v1/tts", { text: TEXT, speaker: "1", params: { temperature: 0 } });
    const audio_wav_b64 = (await okay(voice)).audio.data_b64;
    writeFileSync(file, Buffer.from(audio_wav_b64, "base64"));
    const flags = ["--voice-like", file, "--params", STILL];
    const [asZero, asOne] = await Promise.all([
      runAntiphon(["say", "Good morning.", ...flags]),
      runAntiphon(["say", "Good morning.", ...flags, "--speaker", "1", "--model", "svc-beta-v0.1"]),
    ]);
    for (const { code, stderr } of [asZero, asOne]) {
      assert.equal(code, 0);
      assert.equal(
        stderr,
        "The recording is followed less closely (short): docs/voices.md says what helps.\n",
      );
    }
    assertSpeech(asZero.bytes);
    const params = { temperature: 0 };
    const conversation = [{ audio_wav_b64 }, { text: "Good morning." }];
    assert.ok((await client.converse({ conversation, params })).equals(asZero.bytes.subarray(44)));
    const byOne = conversation.map((turn) => ({ ...turn, speaker: "1" }));
    const served = await client.converse({ conversation: byOne, params, model: "svc-beta-v0.1" });
    assert.ok(served.equals(asOne.bytes.subarray(44)));
  });

  it("speaks with the voice that --voice names, and with one of one's own, as the server does, byte for byte", async () => {
    const client = clientOf(server.url, server.key);
    const params = { temperature: 0 };
    const file = join(temporaryFolder(), "anna.wav");
    const clip = await client.post("/v1/tts", { text: TEXT, speaker: "1", params });
    writeFileSync(file, Buffer.from((await okay(clip)).audio.data_b64, "base64"));
    const at = ["--data-dir", server.dataDir];
    const consent = ["--name", "Anna", "--consent", "She agrees.", "--text", TEXT];
    const added = await runAntiphon(["voices", "add", file, ...consent, ...at]);
    assert.deepEqual([added.code, added.stderr], [0, ""]);
    for (const voice of ["onyx", "Anna"]) {
      const said = await runAntiphon(["say", "Good morning.", "--voice", voice, "--params", STILL, ...at]);
      assert.deepEqual([said.code, said.stderr], [0, ""]);
      const served = await client.tts({ text: "Good morning.", voice, params });
      assert.ok(served.equals(said.bytes.subarray(44)), voice);
    }
    const { meta } = await okay(
      await client.post("/v1/tts", { text: "Good morning.", voice: "Anna", params }),
    );
    assert.deepEqual([meta.voice.start, meta.voice.turns], ["1", []]);
    assert.ok(meta.voice.trust > 0.9, `${meta.voice.trust}`);
    const unknown = await runAntiphon(["say", TEXT, "--voice", "Anne", ...at]);
    assert.match(refusal(unknown, 2), /voice "Anne" is unknown: did you mean "Anna"\?/);
    const both = await runAntiphon(["say", TEXT, "--voice", "Anna", "--voice-like", file, ...at]);
    assert.match(refusal(both, 2), /^Only one of --voice and --voice-like/);
  });

  const wrongVoices: readonly [why: string, make: (folder: string) => string, says: RegExp][] = [
    ["that does not exist", (folder) => join(folder, "none.wav"), /none\.wav cannot be read \(ENOENT\)/],
    ["that is a folder", (folder) => folder, /cannot be read \(EISDIR\)/],
    ["without a name", () => "", /cannot be read \(ENOENT\)/],
    ["that is empty", (folder) => written(folder, "empty.wav", ""), /empty\.wav \(--voice-like\): .*empty/],
    [
      "that is no WAV",
      (folder) => written(folder, "$& song.mp3", "ID3 and then some music"),
      /\$& song\.mp3 \(--voice-like\): undecodable audio: it does not begin as a WAV file does/,
    ],
    [
      "over the cap",
      (folder) => {
        const file = written(folder, "long.wav", "RIFF");
        truncateSync(file, 2 ** 32);
        return file;
      },
      /long\.wav \(--voice-like\) is over the cap of 26214400 bytes/,
    ],
    ["without an end", () => "/dev/zero", /\/dev\/zero \(--voice-like\) is over the cap/],
  ];
  for (const [why, make, says] of wrongVoices) {
    it(`ends with 2 and one sentence for a --voice-like file ${why}`, async () => {
      const file = make(temporaryFolder());
      assert.match(refusal(await runAntiphon(["say", TEXT, "--voice-like", file]), 2), says);
    });
  }

  it("names the text, and not the file, when it is the text that is wrong", async () => {
    const file = written(temporaryFolder(), "voice.wav", "no WAV at all");
    assert.match(refusal(await runAntiphon(["say", "?!", "--voice-like", file]), 2), /nothing speakable/);
  });

  const calledWrongly: readonly [why: string, line: string[], says: RegExp][] = [
    ["no text", ["say"], /^Give a text to speak, a file with --file/],
    ["params that are no JSON", ["say", TEXT, "--params", "{temperature:0}"], /--params is not JSON/],
    [
      "a params that does not exist",
      ["say", TEXT, "--params", '{"temperature":9}'],
      /temperature.*at most 1\.5/,
    ],
    ["an unknown model", ["say", TEXT, "--model", "svc-gamma"], /svc-gamma.*unknown/],
    ["an empty text", ["say", ""], /text/],
    ["a text with nothing speakable", ["say", "?!"], /nothing speakable/],
  ];
  for (const [why, line, says] of calledWrongly) {
    it(`ends with 2 and one sentence for ${why}`, async () => {
      assert.match(refusal(await runAntiphon(line), 2), says);
    });
  }

  it("ends with 1 and one sentence when the file cannot be written", async () => {
    const file = join(temporaryFolder(), "no", "such", "folder.wav");
    const said = refusal(await runAntiphon(["say", "Hi.", "-o", file]), 1);
    assert.ok(said.includes(file), said);
  });
});

describe("antiphon phonemes", () => {
  it("reads a text, a sentence a line", async () => {
    const { code, stdout, stderr } = await antiphon(["phonemes", "The cat sat. It did."]);
    assert.deepEqual([code, stderr], [0, ""]);
    const lines = stdout.trimEnd().split("\n");
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? "", /kˈæt/);
  });

  it("reads lines of standard input as JSON, and an empty line as no sentence", async () => {
    const input = "The cat sat. It did.\n\nA dog.\r\n   \nThe end";
    const { code, stdout, stderr } = await runAntiphon(["phonemes", "-", "--json"], { input });
    assert.deepEqual([code, stderr], [0, ""]);
    const lines = stdout
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as string[]);
    assert.deepEqual(
      lines.map(({ length }) => length),
      [2, 0, 1, 0, 1],
    );
    assert.match(lines[2]?.[0] ?? "", /dˈɔɡ/);
  });
});
