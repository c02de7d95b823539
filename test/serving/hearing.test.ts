import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clip, Conversation, Turn } from "../../src/model/conversation.ts";
import { type Recogniser, RecogniserError, type Transcript } from "../../src/model/recogniser.ts";
import { Hearing } from "../../src/serving/hearing.ts";

const never = new AbortController().signal;

test("turns that are sound alone get their words, and others keep theirs", async () => {
  const ears = new ScriptedRecogniser({ one: "Hello there.", two: "How are you?" });
  const hearing = new Hearing(ears, "writer");
  const talk = conversation(null, [spoken("0", "one"), typed("1", "Hi!"), spoken("0", "two", "Given.")]);
  const { conversation: found, heard } = await hearing.hear(talk, never);
  assert.deepEqual(
    found.history.map(({ text }) => text),
    ["Hello there.", "Hi!", "Given."],
  );
  assert.deepEqual(ears.asked, ["one"]);
  assert.deepEqual(
    heard.map(({ index, text, language }) => [index, text, language]),
    [[0, "Hello there.", "en"]],
  );
});

test("the newest is heard first, what was heard is not heard again, and what is told is in order", async () => {
  const ears = new ScriptedRecogniser({ a: "A.", b: "B.", c: "C." });
  const hearing = new Hearing(ears, "writer");
  const turns = [spoken("0", "a"), spoken("1", "b"), spoken("0", "c")];
  const { heard } = await hearing.hear(conversation(null, turns), never);
  assert.deepEqual(ears.asked, ["c", "b", "a"]);
  assert.deepEqual(
    heard.map(({ index }) => index),
    [0, 1, 2],
  );
  const again = await hearing.hear(conversation(null, turns), never);
  assert.equal(ears.asked.length, 3);
  assert.deepEqual(
    again.heard.map(({ text }) => text),
    ["A.", "B.", "C."],
  );
});

test("given words are heard for where the setting says always, and of their own speaker alone", async () => {
  const turns = [spoken("0", "a"), spoken("1", "b")];
  for (const [use, asked] of [
    ["never", []],
    ["writer", []],
    ["always", ["a"]],
  ] as const) {
    const ears = new ScriptedRecogniser({ a: "A.", b: "B." });
    const hearing = new Hearing(ears, use);
    const talk = conversation("Say this.", turns);
    assert.equal(hearing.wants(talk), asked.length > 0);
    await hearing.hear(talk, never);
    assert.deepEqual(ears.asked, asked, use);
  }
});

test("sixty-three turns of sound are bounded: the newest are heard", async () => {
  const ears = new ScriptedRecogniser({});
  const turns = Array.from({ length: 63 }, (_, n) => spoken("0", `clip-${n}`));
  const { heard } = await new Hearing(ears, "writer").hear(conversation(null, turns), never);
  assert.ok(heard.length >= 1 && heard.length <= 8);
  assert.equal(heard.at(-1)?.index, 62);
});

test("silence stays without words, and a recogniser that fails is told of, not thrown", async () => {
  const ears = new ScriptedRecogniser({ quiet: "", broken: new RecogniserError("the recogniser is away") });
  const turns = [spoken("0", "quiet"), spoken("0", "broken")];
  const { conversation: found, heard } = await new Hearing(ears, "writer").hear(
    conversation(null, turns),
    never,
  );
  assert.deepEqual(
    found.history.map(({ text }) => text),
    [null, null],
  );
  assert.deepEqual(
    heard.map(({ text, problem }) => [text, problem]),
    [
      [null, null],
      [null, "the recogniser is away"],
    ],
  );
});

test("what failed is tried again, an abort is thrown", async () => {
  const failing = new ScriptedRecogniser({ a: new RecogniserError("away") });
  const hearing = new Hearing(failing, "writer");
  const talk = conversation(null, [spoken("0", "a")]);
  await hearing.hear(talk, never);
  await hearing.hear(talk, never);
  assert.equal(failing.asked.length, 2);
  const reason = new Error("gone");
  await assert.rejects(hearing.hear(talk, AbortSignal.abort(reason)), reason);
});

test("a recogniser that never answers is waited for no longer than the patience", async () => {
  const silent: Recogniser = {
    name: "silent",
    recognise: (_clip, _options, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
    close: async () => {},
  };
  const turns = [spoken("0", "a"), spoken("0", "b")];
  const { heard } = await new Hearing(silent, "writer", 20).hear(conversation(null, turns), never);
  assert.deepEqual(
    heard.map(({ text, problem }) => [text, problem]),
    [
      [null, "hearing it took too long"],
      [null, "hearing it took too long"],
    ],
  );
});

class ScriptedRecogniser implements Recogniser {
  readonly name = "scripted";
  readonly asked: string[] = [];
  readonly #script: Readonly<Record<string, string | Error>>;

  constructor(script: Readonly<Record<string, string | Error>>) {
    this.#script = script;
  }

  async recognise({ digest, durationS, isGivenAway }: Clip): Promise<Transcript> {
    assert.notEqual(isGivenAway, true);
    this.asked.push(digest);
    const said = this.#script[digest] ?? "Words.";
    if (said instanceof Error) throw said;
    return {
      text: said,
      language: "en",
      languageProbability: 0.99,
      speechProbability: said === "" ? 0.1 : 0.99,
      meanLogProbability: -0.2,
      segments: [],
      heardS: durationS,
    };
  }

  async close(): Promise<void> {}
}

function conversation(text: string | null, history: readonly Turn[]): Conversation {
  return { history, open: { speaker: "0", text } };
}

function typed(speaker: string, text: string): Turn {
  return { speaker, text, audio: null };
}

function spoken(speaker: string, digest: string, text: string | null = null): Turn {
  const samples = new Float32Array(16_000);
  return { speaker, text, audio: { samples, sampleRateHz: 16_000, durationS: 1, digest, isGivenAway: true } };
}
