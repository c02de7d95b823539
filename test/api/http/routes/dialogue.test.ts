import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { decodeWav } from "../../../../src/audio/decode-wav.ts";
import { MAX_DIALOGUE_LINES } from "../../../../src/contract/limits.ts";
import type { Script } from "../../../../src/core/script.ts";
import { EMBEDDED_VOICES, PUBLIC_MODELS } from "../../../../src/models/public-models.ts";
import { until } from "../../../waiting.ts";
import { frameGate, recordingTones, startForTest, startTestServer } from "../start.ts";
import { dataOf, type Reply } from "../wire.ts";

const PATH = "/v1/audio/dialogue";
const SCRIPT =
  "# At home\n\nAnna: Who's there?\n\nBen (sad): It's me, 🎉.\n\n(Enter Ben.)\n\nBen: And --\n\nAnna: What?";

const scripts: Script[] = [];
const server = await startTestServer({ checkpoints: [recordingTones(scripts)] });
after(() => server.stop());

const speak = (fields: object) => server.post(PATH, fields);
const bytesOf = async (reply: Reply) => Buffer.from(await reply.arrayBuffer());
const eventsOf = async (fields: object) =>
  dataOf(await speak({ response_format: "pcm", stream_format: "sse", ...fields }));

async function refused(fields: object, message: RegExp, param: string, status = 400): Promise<void> {
  const reply = await speak(fields);
  const { error } = await reply.json();
  assert.equal(reply.status, status, error?.message);
  assert.match(error.message, message);
  assert.equal(error.param, param);
}

/** Speaks and returns the scripts that the engine got. */
async function scriptsOf(fields: object): Promise<Script[]> {
  const from = scripts.length;
  const reply = await speak({ response_format: "pcm", ...fields });
  assert.equal(reply.status, 200, await reply.clone().text());
  await reply.arrayBuffer();
  return scripts.slice(from);
}

const voiceOf = ({ voice, speaker }: Script) =>
  voice?.map((part) => ("id" in part ? part.id : "a recording")).join("+") ?? speaker;

describe("POST /v1/audio/dialogue", () => {
  test("speaks each line in its speaker's voice, as a turn after the lines before it", async () => {
    const lines = await scriptsOf({ script: SCRIPT, voices: { Anna: "marin", BEN: { id: "onyx" } } });
    assert.deepEqual(lines.map(voiceOf), ["5", "7", "7", "5"]);
    const [first, second, third, fourth] = lines.map(({ history }) => history.map(({ text }) => text));
    assert.deepEqual([first, second], [[], ["Who's there?"]]);
    assert.deepEqual(
      [third, fourth],
      [
        ["Who's there?", "It's me, 🎉."],
        ["Who's there?", "It's me, 🎉.", "And --"],
      ],
    );
    const [asked, answered] = fourthTurns(lines);
    assert.notEqual(asked, answered, "different speakers have different roles");
    assert.equal(lines[3]!.speaker, asked);
    assert.equal(lines[1]!.manner?.words, "sad");
    assert.equal(lines[2]!.manner, undefined);
  });

  const fourthTurns = (lines: readonly Script[]) => lines[3]!.history.map(({ speaker }) => speaker);

  test("gives speakers without a voice different ones, and reports all of them", async () => {
    const reply = await speak({
      script: "Anna: Hi.\nBen & Jo: Hi.\nAlloy: Hi.\nשרה: Hi.",
      voices: { anna: "1" },
    });
    await reply.arrayBuffer();
    const [anna, ben, alloy, sarah] = reply.headers
      .get("x-antiphon-voices")!
      .split(", ")
      .map((pair) => pair.split("=").map(decodeURIComponent));
    assert.deepEqual([anna![0], ben![0], alloy![0], sarah![0]], ["Anna", "Ben & Jo", "Alloy", "שרה"]);
    const nameOf = (id: string) => EMBEDDED_VOICES.find((voice) => voice.id === id)!.name;
    assert.deepEqual([anna![1], ben![1], alloy![1], sarah![1]], ["1", "2", "0", "3"].map(nameOf));
  });

  test("shares voices among more speakers than there are, and says so", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `Speaker ${index + 1}`);
    const reply = await speak({ script: names.map((name) => `${name}: Hello.`).join("\n") });
    await reply.arrayBuffer();
    const voices = reply.headers
      .get("x-antiphon-voices")!
      .split(", ")
      .map((pair) => pair.split("=")[1]);
    assert.equal(new Set(voices).size, EMBEDDED_VOICES.filter(({ language }) => language === "en-US").length);
    assert.match(reply.headers.get("x-antiphon-cautions")!, /more speakers than voices/);
  });

  test("takes lines instead of a script, by voice or by a name in voices", async () => {
    const lines = await scriptsOf({
      lines: [
        { voice: "0", text: "Knock, knock." },
        { voice: "ben", text: "Who is it?", instructions: "much louder" },
        { voice: "echo", text: "Echo: it is.[pause:1s]" },
      ],
      voices: { Ben: "12" },
    });
    assert.deepEqual(lines.map(voiceOf), ["0", "12", "1"]);
    assert.equal(lines[1]!.manner?.figures.levelDb, 5);
  });

  test("streams who speaks first, then words with their speaker, line and place in the script", async () => {
    const [started, ...events] = await eventsOf({ script: SCRIPT });
    const done = events.pop();
    assert.equal(started.type, "dialogue.started");
    assert.deepEqual(
      started.speakers.map(({ name, is_chosen }: { name: string; is_chosen: boolean }) => [name, is_chosen]),
      [
        ["Anna", false],
        ["Ben", false],
      ],
    );
    const characters = Array.from(SCRIPT);
    const linesSent = started.lines.map((line: { offset: number; length: number }) =>
      characters.slice(line.offset, line.offset + line.length).join(""),
    );
    assert.deepEqual(linesSent, ["Who's there?", "It's me, 🎉.", "And --", "What?"]);
    assert.deepEqual(
      started.lines.map(({ scene }: { scene: string | null }) => scene),
      ["At home", null, null, null],
    );
    const words = events.flatMap((event) => event.words ?? []);
    let end = 0;
    for (const { word, offset, length, start, line, speaker, ...times } of words) {
      assert.equal(characters.slice(offset, offset + length).join(""), word);
      assert.equal(speaker, started.lines[line].speaker);
      assert.ok(start >= end, `${word} begins after the word before it`);
      end = times.end;
    }
    assert.deepEqual(
      words.map(({ line }) => line),
      [0, 0, 1, 1, 2, 3],
    );
    assert.equal(done.type, "speech.audio.done");
    assert.equal(done.usage.input_chars, "Who's there?It's me, 🎉.And --What?".length - 1);
  });

  const gapsOf = async (fields: object) => {
    const words = (await eventsOf(fields)).flatMap((event) =>
      event.type.endsWith("delta") ? (event.words ?? []) : [],
    );
    return words.slice(1).map((word, index) => Math.round(100 * (word.start - words[index].end)) / 100);
  };

  test("pauses between speakers as the text asks for, or as long as gap", async () => {
    const script =
      "Anna: One?\nBen: Two\nAnna: Three--\nBen: Four...\nAnna: Five\n---\nBen: Six\n(Pause.)\nSeven";
    // The tone of a character lasts 60 ms, also that of a mark at the end, which is no part of the word.
    assert.deepEqual(await gapsOf({ script }), [0.31, 0.35, 0.22, 0.88, 1.1, 0.5]);
    assert.deepEqual(await gapsOf({ script, gap: 0.8 }), [0.86, 0.8, 0.92, 0.98, 1.1, 0.5]);
    assert.deepEqual(
      await gapsOf({ script: "Anna: X-9.\nBen: Two？\nAnna: Three…\nBen: Four" }),
      [0.41, 0.31, 0.76],
    );
    assert.deepEqual(await gapsOf({ script: "Anna: One[pause:2s]\nBen: [pause:3s] Two" }), [5.06]);
  });

  test("keeps a pause that only marks separate from the end of its line", async () => {
    assert.deepEqual(await gapsOf({ script: "Anna: One[pause:2s].\nBen: *'[pause:3s] Two'" }), [5.12]);
  });

  test("speaks a line that is a pause as one, between two gaps", async () => {
    // Gaps of 0.35 s and 0.7 s, half a second of silence, and the tone of the full stop.
    assert.deepEqual(await gapsOf({ script: "Anna: One.\nBen: ...\nAnna: Two." }), [1.61]);
  });

  test("gives a line the words before it without their marks", async () => {
    const [, second] = await scriptsOf({ script: "Anna: [voice:1]One[pause:1s]\nBen: Two." });
    assert.deepEqual(
      second!.history.map(({ text }) => text),
      ["One"],
    );
  });

  test("speaks marks that name voices with a model that follows none", async (t) => {
    const [model] = PUBLIC_MODELS;
    const takes = { ...model!.card.takes, marks: false };
    const plain = { ...model!, card: { ...model!.card, takes } };
    const own = await startForTest(t, { models: [plain] });
    const reply = await own.post(PATH, {
      script: "Anna: Hi [voice:1] there.\nBen: Yo.",
      response_format: "pcm",
    });
    assert.equal(reply.status, 200, await reply.clone().text());
    assert.match(reply.headers.get("x-antiphon-cautions")!, /does not follow voices within a text/);
    assert.ok((await bytesOf(reply)).length > 48_000);
  });

  test("reports as many voices as fit in a header that clients accept", async () => {
    const names = Array.from({ length: 32 }, (_, index) => `${"名".repeat(39)}${index}`);
    const reply = await speak({
      script: names.map((name) => `${name.slice(0, 40)}: Hi.`).join("\n"),
      response_format: "pcm",
    });
    await reply.arrayBuffer();
    const header = reply.headers.get("x-antiphon-voices")!;
    assert.ok(header.length <= 4_000);
    for (const pair of header.split(", "))
      assert.match(pair.split("=").map(decodeURIComponent).join("="), /^名+\d=\w+$/);
  });

  test("speaks the same bytes at temperature 0, and a file of known length whole", async () => {
    const fields = { script: SCRIPT, params: { temperature: 0 }, response_format: "wav" };
    const [file, again] = [await bytesOf(await speak(fields)), await bytesOf(await speak(fields))];
    assert.deepEqual(file, again);
    assert.equal(file.readUInt32LE(40), file.length - 44);
    const events = await eventsOf({ ...fields, response_format: "pcm" });
    const joined = Buffer.concat(
      events.flatMap(({ audio }) => (audio ? [Buffer.from(audio, "base64")] : [])),
    );
    assert.equal(joined.length / 2, decodeWav(file).samples.length);
  });

  test("is one request of the words' characters, without names and directions", async (t) => {
    const own = await startForTest(t);
    await (
      await own.post(PATH, {
        script: "Anna (sad): One.\n(Exit.)\nBen: Two[pause:1s].",
        response_format: "pcm",
      })
    ).arrayBuffer();
    const { requests, input_chars } = await own.usage();
    assert.deepEqual([requests, input_chars], [1, 8]);
  });

  test("makes a pause of a line with nothing to speak, and reports it", async () => {
    const reply = await speak({ script: "Anna: Well?\nBen: ...\nAnna: I see.", response_format: "pcm" });
    await reply.arrayBuffer();
    assert.equal(
      reply.headers.get("x-antiphon-cautions"),
      "script line 2 has nothing speakable: it is a pause",
    );
    await refused({ script: "Anna: ...\nBen: !" }, /^script has nothing speakable/, "script");
  });

  test("reports what it does not follow", async () => {
    const reply = await speak({
      script: "Anna (whispering): One.\n(Exit.)\nBen: <break/> Two.",
      voices: { Cleo: "2" },
      response_format: "pcm",
      tempo: 3,
    });
    await reply.arrayBuffer();
    assert.equal(
      reply.headers.get("x-antiphon-cautions"),
      'stage directions are not spoken: script line 2; voices["Cleo"] speaks no line; script line 1: whispering is not ' +
        "followed; script line 3: <break> is ignored: put <speak> and </speak> around the whole text",
    );
    assert.equal(reply.headers.get("x-antiphon-ignored"), "tempo");
  });

  test("stops within a line when its client leaves, and meters what it was sent", async (t) => {
    const own = await startForTest(t, { tone: frameGate((index) => index === 5).tone });
    const leaving = new AbortController();
    const fields = { script: "Anna: One long line of words.\nBen: Two.", response_format: "pcm" };
    const reply = await own.post(PATH, fields, {}, leaving.signal);
    const reader = (reply as Response).body!.getReader();
    for (let bytes = 0; bytes < 5 * 1_920 * 2; ) bytes += (await reader.read()).value!.length;
    leaving.abort();
    await until("the usage", async () => (await own.usage()).requests === 1);
    assert.equal((await own.usage()).output_audio_seconds, 5 * 0.08);
    assert.equal(await own.begun(), 0);
  });

  describe("refuses with the field and the line", () => {
    const lines = (count: number) => Array.from({ length: count }, () => ({ voice: "0", text: "Hi." }));
    const script = "Anna: Hi.\nBen: Ho.";
    const CASES: readonly (readonly [
      claim: string,
      body: object,
      message: RegExp,
      param: string,
      status?: number,
    ])[] = [
      [
        "neither script nor lines",
        {},
        /^script is missing: send the dialogue as script, or as lines$/,
        "script",
      ],
      ["both", { script, lines: lines(1) }, /^script and lines are both given/, "lines"],
      ["no line", { script: "# One\n" }, /^script has no line to speak/, "script"],
      [
        "text without a speaker",
        { script: "Hello.\nAnna: Hi." },
        /^script line 1: no speaker is named/,
        "script",
      ],
      [
        "a label that may be prose",
        { script: "Anna: A.\nb.\nNote: c.\nAnna: d." },
        /^script line 3: "Note" may be/,
        "script",
      ],
      [
        "an unknown voice",
        { script, voices: { Anna: "nobody" } },
        /^voices\["Anna"\] "nobody" is unknown/,
        'voices["Anna"]',
      ],
      [
        "an unknown voice of a line",
        { lines: [{ voice: "nobody", text: "Hi." }] },
        /^lines\[0\]\.voice "nobody" is unknown/,
        "lines[0].voice",
      ],
      [
        "two spellings of a name",
        { script, voices: { Anna: "0", anna: "1" } },
        /^voices\["anna"\] is the same speaker as "Anna"/,
        'voices["anna"]',
      ],
      [
        "an empty line",
        { lines: [{ voice: "0", text: " " }] },
        /^lines\[0\]\.text is empty/,
        "lines[0].text",
      ],
      [
        "a long line",
        { script: `Anna: ${"a ".repeat(4_000)}` },
        /^script line 1 must have at most 4096/,
        "script",
        422,
      ],
      [
        "a long script",
        { script: "Anna: Hi.\n".repeat(100_000) },
        /^script must have at most 100000/,
        "script",
        422,
      ],
      [
        "too many lines",
        { lines: lines(MAX_DIALOGUE_LINES + 1) },
        /^lines must have at most 1000 items$/,
        "lines",
        422,
      ],
      [
        "too many lines in a script",
        { script: "A: x\nB: y\n".repeat(501) },
        /^script has 1002 lines/,
        "script",
      ],
      [
        "200 speakers",
        { script: Array.from({ length: 200 }, (_, index) => `P${index}: Hi.`).join("\n") },
        /^script has 200 speakers/,
        "script",
      ],
      [
        "a wrong mark",
        { script: "Anna: Hi.\nBen: [pause:99s] Ho." },
        /^script line 2: line 1, column 1: /,
        "script",
      ],
      [
        "a bad format",
        { script, response_format: "aac" },
        /^response_format "aac" is not made here/,
        "response_format",
      ],
      [
        "lines of more characters than a script may have",
        { lines: Array.from({ length: 26 }, () => ({ voice: "0", text: "a".repeat(4_000) })) },
        /^lines must have at most 100000 characters/,
        "lines",
        422,
      ],
      [
        "a long name of a voice",
        { lines: [{ voice: "a".repeat(2_000), text: "Hi." }], voices: { ["a".repeat(2_000)]: "0" } },
        /^lines\[0\]\.voice must have at most 1000 characters/,
        "lines[0].voice",
        422,
      ],
      [
        "marks that name too many voices",
        {
          script: Array.from({ length: 33 }, (_, index) => `Anna: [voice:recording ${index}]Hi.`).join("\n"),
        },
        /^script line 33 names another voice, and the marks of a dialogue may name 32: use fewer$/,
        "script",
      ],
      ["a bad gap", { script, gap: 11 }, /^gap must be at most 10$/, "gap", 422],
    ];
    for (const [claim, body, message, param, status] of CASES)
      test(claim, () => refused(body, message, param, status));
  });
});
