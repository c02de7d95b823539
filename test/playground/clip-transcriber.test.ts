import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { TOP } from "../architecture/top.ts";

interface Clip {
  readonly name: string;
}
interface Turn {
  text: string;
  audio: Clip | null;
}
interface ClipTranscriber {
  stateOf(turn: Turn): string | undefined;
  follow(turns: readonly Turn[]): void;
  wrote(turn: Turn): void;
  understood(turn: Turn, audio: Clip | null, text: string): void;
  retry(): void;
}
interface Page {
  ClipTranscriber: new (
    ask: (audio: Clip, signal: AbortSignal) => Promise<string>,
    onChange: (turn: Turn) => void,
  ) => ClipTranscriber;
  NOTES: Readonly<Record<string, string>>;
}

const load = (name: string) => import(pathToFileURL(join(TOP, "playground", name)).href);
const { ClipTranscriber, NOTES }: Page = await load("clip-transcriber.js");
const { MAX_TEXT_CHARS }: { MAX_TEXT_CHARS: number } = await load("conversation.js");

const OPEN: Turn = { text: "", audio: null };
const clip = (name: string): Clip => ({ name });
const soundAlone = (name = "a.wav"): Turn => ({ text: "", audio: clip(name) });

/** A page whose recogniser the test answers for. */
function page() {
  const asked: { name: string; signal: AbortSignal; answer(text: string): void; fail(): void }[] = [];
  const changed: Turn[] = [];
  const transcriber = new ClipTranscriber(
    ({ name }, signal) =>
      new Promise((answer, reject) => {
        asked.push({ name, signal, answer, fail: () => reject(new Error("nobody hears")) });
      }),
    (turn) => changed.push(turn),
  );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { transcriber, asked, changed, settled };
}

test("transcribes a turn with audio alone once", async () => {
  const { transcriber, asked, changed, settled } = page();
  const turn = soundAlone();
  transcriber.follow([turn, OPEN]);
  transcriber.follow([turn, OPEN]);
  assert.equal(transcriber.stateOf(turn), "waiting");
  assert.equal(turn.text, "");
  assert.deepEqual(
    asked.map(({ name }) => name),
    ["a.wav"],
  );
  asked[0]!.answer(" The kettle is on. ");
  await settled();
  assert.equal(turn.text, "The kettle is on.");
  assert.equal(transcriber.stateOf(turn), "understood");
  assert.deepEqual(changed, [turn]);
  transcriber.follow([turn, OPEN]);
  assert.equal(asked.length, 1);
});

test("ignores turns with text, turns without audio and the open turn", () => {
  const { transcriber, asked } = page();
  transcriber.follow([{ text: "Typed.", audio: clip("a.wav") }, { text: "", audio: null }, soundAlone()]);
  assert.equal(asked.length, 0);
});

test("keeps what the user writes or clears", async () => {
  for (const written of ["Mine.", ""]) {
    const { transcriber, asked, changed, settled } = page();
    const turn = soundAlone();
    transcriber.follow([turn, OPEN]);
    turn.text = written;
    transcriber.wrote(turn);
    assert.ok(asked[0]!.signal.aborted);
    asked[0]!.answer("Theirs.");
    await settled();
    transcriber.understood(turn, turn.audio, "The reply's.");
    transcriber.follow([turn, OPEN]);
    assert.equal(turn.text, written);
    assert.equal(transcriber.stateOf(turn), "written");
    assert.equal(asked.length, 1);
    assert.deepEqual(changed, []);
  }
});

test("keeps an edited suggestion even if its clip is replaced", async () => {
  const { transcriber, asked, settled } = page();
  const turn = soundAlone();
  transcriber.follow([turn, OPEN]);
  asked[0]!.answer("The cattle is on.");
  await settled();
  turn.text = "The kettle is on.";
  transcriber.wrote(turn);
  assert.equal(transcriber.stateOf(turn), "written");
  turn.audio = clip("b.wav");
  transcriber.follow([turn, OPEN]);
  assert.equal(turn.text, "The kettle is on.");
  assert.equal(asked.length, 1);
});

test("transcribes a clip once the words before it are cleared", async () => {
  const { transcriber, asked, settled } = page();
  const turn: Turn = { text: "An example.", audio: clip("a.wav") };
  transcriber.follow([turn, OPEN]);
  turn.text = "";
  transcriber.wrote(turn);
  assert.equal(asked.length, 0);
  transcriber.follow([turn, OPEN]);
  asked[0]!.answer("The kettle is on.");
  await settled();
  assert.equal(turn.text, "The kettle is on.");
});

test("a newer clip aborts the older one and removes its suggestion", async () => {
  const { transcriber, asked, settled } = page();
  const turn = soundAlone("a.wav");
  transcriber.follow([turn, OPEN]);
  turn.audio = clip("b.wav");
  transcriber.follow([turn, OPEN]);
  assert.ok(asked[0]!.signal.aborted);
  asked[1]!.answer("Of the second.");
  asked[0]!.answer("Of the first.");
  await settled();
  assert.equal(turn.text, "Of the second.");
  turn.audio = null;
  transcriber.follow([turn, OPEN]);
  assert.equal(turn.text, "");
  assert.equal(transcriber.stateOf(turn), undefined);
});

test("aborts a turn that was removed or opened", async () => {
  for (const [left, isAskedAgain] of [
    [(turn: Turn) => [turn], true],
    [() => [OPEN], true],
    [(turn: Turn) => [turn, OPEN], false],
  ] as const) {
    const { transcriber, asked, changed, settled } = page();
    const turn = soundAlone();
    transcriber.follow([turn, OPEN]);
    transcriber.follow(left(turn));
    assert.equal(asked[0]!.signal.aborted, isAskedAgain);
    transcriber.follow([turn, OPEN]);
    assert.equal(asked.length, isAskedAgain ? 2 : 1);
    asked.at(-1)!.answer("Now.");
    if (isAskedAgain) asked[0]!.fail();
    await settled();
    assert.equal(turn.text, "Now.");
    assert.deepEqual(changed, [turn]);
  }
});

test("a failed or empty transcription leaves the audio alone, with a note", async () => {
  for (const state of ["failed", "wordless"]) {
    const { transcriber, asked, changed, settled } = page();
    const turn = soundAlone();
    transcriber.follow([turn, OPEN]);
    if (state === "failed") asked[0]!.fail();
    else asked[0]!.answer(" ");
    await settled();
    assert.equal(turn.text, "");
    assert.equal(transcriber.stateOf(turn), state);
    assert.match(NOTES[state]!, / The turn stays sound alone\.$/);
    assert.deepEqual(changed, [turn]);
    transcriber.follow([turn, OPEN]);
    assert.equal(asked.length, 1);
    transcriber.retry();
    transcriber.follow([turn, OPEN]);
    assert.equal(asked.length, state === "failed" ? 2 : 1);
  }
});

test("a reply's transcript fills a turn without words if its clip is unchanged", async () => {
  const { transcriber, asked, changed, settled } = page();
  const [failing, waiting, replaced] = [soundAlone("a.wav"), soundAlone("b.wav"), soundAlone("c.wav")];
  transcriber.follow([failing, waiting, replaced, OPEN]);
  asked[0]!.fail();
  await settled();
  const before = replaced.audio;
  replaced.audio = clip("d.wav");
  transcriber.follow([failing, waiting, replaced, OPEN]);
  for (const turn of [failing, waiting]) transcriber.understood(turn, turn.audio, "Heard.");
  transcriber.understood(replaced, before, "Heard before.");
  asked[1]!.answer("Too late.");
  await settled();
  assert.deepEqual([failing.text, waiting.text, replaced.text], ["Heard.", "Heard.", ""]);
  assert.ok(asked[1]!.signal.aborted);
  assert.equal(transcriber.stateOf(replaced), "waiting");
  assert.deepEqual(changed, [failing, failing, waiting]);
  transcriber.understood(waiting, waiting.audio, "Heard again.");
  assert.equal(waiting.text, "Heard.");
});

test("truncates a suggestion to the maximum length of a text", async () => {
  const { transcriber, asked, settled } = page();
  const turn = soundAlone();
  transcriber.follow([turn, OPEN]);
  asked[0]!.answer("word ".repeat(MAX_TEXT_CHARS));
  await settled();
  assert.equal(turn.text.length, MAX_TEXT_CHARS);
});
