import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { TOP, temporaryFolder } from "../e2e/folders.ts";
import { type Finished, finished, launchAntiphon } from "../e2e/program.ts";
import { json, refusal, TranscriptionServer } from "../recognition/transcription-server.ts";
import { testWhisper } from "../recognition/whisper/weights.ts";
import { until, within } from "../waiting.ts";
import { runAntiphon } from "./run-antiphon.ts";

const { dataDir, missing } = await testWhisper();

const folder = temporaryFolder();
const TONE = join(folder, "tone.wav");
writeFileSync(
  TONE,
  encodeWav([Int16Array.from({ length: 8_000 }, (_, at) => 9_000 * Math.sin(at / 9))], 16_000),
);

/** An endpoint's answer with two sentences. */
const ANSWER = {
  text: "The tea is ready. Come in.",
  language: "english",
  duration: 0.5,
  segments: [
    { start: 0, end: 0.25, text: " The tea is ready.", avg_logprob: -0.5, no_speech_prob: 0.1 },
    { start: 0.25, end: 0.5, text: " Come in.", avg_logprob: -0.25, no_speech_prob: 0.1 },
  ],
  words: [
    { word: "The", start: 0, end: 0.05 },
    { word: "tea", start: 0.05, end: 0.1 },
    { word: "is", start: 0.1, end: 0.15 },
    { word: "ready.", start: 0.15, end: 0.25 },
    { word: "Come", start: 0.25, end: 0.4 },
    { word: "in.", start: 0.4, end: 0.5 },
  ],
};

let server: TranscriptionServer;
before(async () => {
  server = await TranscriptionServer.open();
});
after(() => server.close());

function endpoint(): Record<string, string> {
  return {
    ANTIPHON_RECOGNISER_KIND: "endpoint",
    ANTIPHON_RECOGNISER_BASE_URL: server.baseUrl,
    ANTIPHON_RECOGNISER_MODEL: "some-whisper",
  };
}

async function printed(...line: string[]): Promise<string> {
  server.answers(json(ANSWER));
  const { code, stdout, stderr } = await runAntiphon(["transcribe", ...line], { env: endpoint() });
  assert.deepEqual([code, stderr], [0, ""]);
  return stdout;
}

/** Checks that a command failed with one sentence; returns the sentence. */
function sentence({ code, stdout, stderr }: Finished, exitCode: 1 | 2): string {
  assert.deepEqual([code, stdout.length], [exitCode, 0], stderr);
  assert.match(stderr, /^[A-Z][^\n]+[.?]\n$/, "plain sentences on one line");
  return stderr;
}

describe("antiphon transcribe", { concurrency: false }, () => {
  it("prints the text on one line", async () => {
    assert.equal(await printed(TONE), "The tea is ready. Come in.\n");
  });

  it("prints captions, for each segment or for each word", async () => {
    assert.equal(
      await printed(TONE, "--srt"),
      "1\n00:00:00,000 --> 00:00:00,250\nThe tea is ready.\n\n2\n00:00:00,250 --> 00:00:00,500\nCome in.\n\n",
    );
    assert.match(await printed(TONE, "--vtt"), /^WEBVTT\n\n00:00:00\.000 --> 00:00:00\.250\nThe tea is/);
    const words = await printed(TONE, "--vtt", "--words");
    assert.equal(words.match(/ --> /g)?.length, 6);
    assert.match(words, /00:00:00\.150 --> 00:00:00\.250\nready\.\n/);
  });

  it("prints JSON with segments, and words on request", async () => {
    const plain = JSON.parse(await printed(TONE, "--json"));
    assert.deepEqual(
      [plain.text, plain.language, plain.recogniser, plain.duration_s, plain.heard_s],
      [ANSWER.text, "en", "some-whisper", 0.5, 0.5],
    );
    assert.deepEqual(
      plain.segments.map(({ start_s, end_s, text }: Record<string, unknown>) => [start_s, end_s, text]),
      [
        [0, 0.25, "The tea is ready."],
        [0.25, 0.5, "Come in."],
      ],
    );
    assert.ok(!("words" in plain.segments[0]));
    const { segments } = JSON.parse(await printed(TONE, "--json", "--words"));
    assert.deepEqual(
      segments[1].words.map(({ text, start_s }: Record<string, unknown>) => [text, start_s]),
      [
        ["Come", 0.25],
        ["in.", 0.4],
      ],
    );
  });

  it("reads standard input, and sends language and key", async () => {
    server.answers(json(ANSWER));
    const env = { ...endpoint(), ANTIPHON_RECOGNISER_API_KEY: "sk-hear" };
    const input = readFileSync(TONE);
    const { code, stdout } = await runAntiphon(["transcribe", "-", "--language", "en-GB"], { env, input });
    assert.deepEqual([code, stdout], [0, "The tea is ready. Come in.\n"]);
    const [{ request, form } = { request: null, form: "" }] = server.asked;
    assert.equal(request?.headers.authorization, "Bearer sk-hear");
    assert.match(form, /name="language"\r\n\r\nen\r\n/);
  });

  it("prints the translation, or reports that there is none", async () => {
    assert.equal(await printed(TONE, "--translate"), "The tea is ready. Come in.\n");
    assert.equal(server.asked[0]?.request.url, "/v1/audio/translations");
    server.answers(refusal(404));
    const said = sentence(await runAntiphon(["transcribe", TONE, "--translate"], { env: endpoint() }), 1);
    assert.match(said, /does not translate \(404\)\. Ask for a transcription instead\.$/m);
  });

  it("reads the other kinds of recordings", async () => {
    for (const name of ["mono-44100.mp3", "mono-16000.flac", "mono.ogg", "mono.webm"]) {
      assert.equal(
        await printed(join(TOP, "test", "golden", "recordings", name)),
        "The tea is ready. Come in.\n",
        name,
      );
    }
  });

  it("prints nothing without speech, and says so on standard error", async () => {
    server.answers(json({ text: "", language: "english", duration: 0.5, segments: [] }));
    const { code, stdout, stderr } = await runAntiphon(["transcribe", TONE], { env: endpoint() });
    assert.deepEqual([code, stdout.length, stderr], [0, 0, "There is no speech in it.\n"]);
  });

  it("refuses wrong calls with a sentence", async () => {
    const none = join(folder, "none.wav");
    const text = join(folder, "text.wav");
    writeFileSync(text, "These are words, and no sound.");
    const wrong: readonly [line: string[], says: RegExp][] = [
      [[none], /^The file .*none\.wav cannot be read \(ENOENT\): name a recording, or - for standard input/],
      [[folder], /cannot be read \(EISDIR\)/],
      [[text], /^The file .*text\.wav cannot be decoded: it is not a recording that can be read: give WAV/],
      [
        ["-"],
        /^What comes on standard input cannot be decoded: it is empty: give a whole and undamaged file/,
      ],
      [[TONE, "--json", "--srt"], /^Only one of --json and --srt can be given/],
      [[TONE, "--language", "klingon"], /^The language "klingon" is unknown: give its ISO 639-1 code, such/],
      [[none, "--language", ""], /^The language "" is unknown/],
      [[TONE, "--words"], /^Plain text has no times: give --json, --srt or --vtt with --words\.$/],
      [[TONE, "--translate", "--json", "--words"], /^The words of a translation are said at no time: leave/],
      [[], /^Missing required argument 'file': see --help\.$/],
    ];
    for (const [line, says] of wrong) {
      const said = sentence(await runAntiphon(["transcribe", ...line], { env: endpoint() }), 2);
      assert.match(said.trimEnd(), says);
    }
  });

  it("reports what to do without a recogniser", async () => {
    const env = { ANTIPHON_DATA_DIR: join(folder, "nothing") };
    assert.match(
      sentence(await runAntiphon(["transcribe", TONE], { env }), 1),
      /^The weights of whisper-base are missing \(there is no .*installed\.json\): run antiphon models pull whisper-base\.$/m,
    );
    assert.match(
      sentence(await runAntiphon(["transcribe", TONE], { env: { ANTIPHON_RECOGNISER_KIND: "none" } }), 1),
      /^The setting recogniser\.kind is none, so nothing can be transcribed/,
    );
    assert.match(
      sentence(
        await runAntiphon(["transcribe", TONE], { env: { ANTIPHON_RECOGNISER_CHECKPOINT: "ear" } }),
        1,
      ),
      /^There is no recogniser "ear": set recogniser\.checkpoint to one of whisper-base, recogniser\.$/m,
    );
    assert.match(
      sentence(await runAntiphon(["transcribe", TONE], { env: { ANTIPHON_RECOGNISER_KIND: "endpoint" } }), 1),
      /^The setting recogniser\.baseUrl is missing/,
    );
  });

  it("reports an endpoint that refuses", async () => {
    server.answers(refusal(401));
    const { code, stderr } = await runAntiphon(["transcribe", TONE], { env: endpoint() });
    assert.equal(code, 1);
    assert.match(stderr, /^The recogniser's endpoint refused the key \(401\)\. Check/);
  });

  it("ends by SIGINT when interrupted", async () => {
    server.answers(() => {});
    const child = launchAntiphon(["transcribe", TONE], { env: endpoint() });
    const ended = finished(child);
    await until("the endpoint to be asked", () => server.asked.length === 1);
    child.kill("SIGINT");
    const { stdout, stderr } = await within("its end", ended);
    assert.deepEqual([stdout.length, stderr, child.signalCode], [0, "", "SIGINT"]);
  });
});

describe("antiphon transcribe with Whisper", { skip: missing }, () => {
  it("transcribes what antiphon says", async () => {
    const spoken = join(folder, "spoken.wav");
    const said = "We met at the harbour, well before sunrise.";
    assert.equal((await runAntiphon(["say", said, "--params", '{"temperature":0}', "-o", spoken])).code, 0);
    const env = { ANTIPHON_DATA_DIR: dataDir };
    const { code, stdout, stderr } = await runAntiphon(["transcribe", spoken, "--json", "--words"], { env });
    assert.deepEqual([code, stderr], [0, ""]);
    const { text, language, recogniser, segments } = JSON.parse(stdout);
    assert.match(text, /^We met at the harbou?r,? well before sunrise\.?$/i);
    assert.deepEqual([language, recogniser], ["en", "whisper-base"]);
    assert.equal(segments[0].words.length, 8);
  });

  it("transcribes nothing from a tone", async () => {
    const { code, stdout, stderr } = await runAntiphon(["transcribe", TONE], {
      env: { ANTIPHON_DATA_DIR: dataDir },
    });
    assert.deepEqual([code, stdout.length, stderr], [0, 0, "There is no speech in it.\n"]);
  });
});
