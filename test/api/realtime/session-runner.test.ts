import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { InputAudioDecoder } from "../../../src/api/realtime/input-audio-buffer.ts";
import { ServiceError } from "../../../src/contract/errors.ts";
import { readClientEvent } from "../../../src/contract/realtime/client-events.ts";
import { ABANDONED_OUTCOME, type SpeechService } from "../../../src/serving/reply/speech-service.ts";
import { diceOf } from "../../fuzz/dice.ts";
import { randomOf } from "../../fuzz/fuzzer.ts";
import { until } from "../../waiting.ts";
import { openRunner } from "./runner.ts";

const PCM = { type: "audio/pcm", rate: 24_000 } as const;
const COMMITTED = { turnDetection: null } as const;
const sum = (seconds: readonly number[]) => seconds.reduce((total, each) => total + each, 0);

type Runner = ReturnType<typeof openRunner>["runner"];

const tell = (runner: Runner, event: unknown) =>
  runner.receive(readClientEvent(Buffer.from(JSON.stringify(event))));

/** A turn of so many milliseconds that the client commits. */
async function commit(runner: Runner, ms: number): Promise<void> {
  const audio = Buffer.alloc(48 * ms).toString("base64");
  await tell(runner, { type: "input_audio_buffer.append", audio });
  await tell(runner, { type: "input_audio_buffer.commit" });
}

/** What a session has heard of that much sound, in seconds. */
const heardS = (ms: number) => new InputAudioDecoder(PCM).push(new Uint8Array(48 * ms)).length / 16_000;

describe("what a client commits is metered", () => {
  it("with its reply, and at once by itself where that fails or is interrupted before its first sound", async () => {
    const asked: number[] = [];
    const converse: SpeechService["speak"] = async function* (prepared, { signal, onMetered }) {
      asked.push(prepared.input.audioS);
      if (asked.length === 1) throw new ServiceError(502, "scripted");
      if (asked.length === 2) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      signal.throwIfAborted();
      yield { bytes: new Uint8Array(3_840), marks: {} };
      onMetered?.();
      return ABANDONED_OUTCOME;
    };
    const { runner, sent, metered, leave } = openRunner({ settings: COMMITTED, converse });
    const done = (count: number) =>
      until("replies", () => sent.filter(({ type }) => type === "response.done").length === count);
    runner.begin();
    await commit(runner, 1_000);
    await tell(runner, { type: "response.create" });
    await done(1);
    await commit(runner, 500);
    await tell(runner, { type: "response.create" });
    await until("the second", () => asked.length === 2);
    await tell(runner, { type: "response.cancel" });
    await runner.whenIdle();
    await commit(runner, 250);
    await tell(runner, { type: "response.create" });
    await done(3);
    leave();
    await runner.whenIdle();
    const turns = [heardS(1_000), heardS(1_500) - heardS(1_000), heardS(1_750) - heardS(1_500)];
    assert.deepEqual(asked, turns);
    assert.deepEqual(metered, turns.slice(0, 2), "and not once more at the end");
  });

  it("at the end where a reply is left before its first sound", async () => {
    let isAsked = false;
    const converse: SpeechService["speak"] = async function* (_prepared, { signal }) {
      isAsked = true;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      signal.throwIfAborted();
      yield { bytes: new Uint8Array(0), marks: {} };
      return ABANDONED_OUTCOME;
    };
    const { runner, metered, leave } = openRunner({ settings: COMMITTED, converse });
    runner.begin();
    await commit(runner, 1_000);
    await tell(runner, { type: "response.create" });
    await until("the reply", () => isAsked);
    leave();
    await runner.whenIdle();
    assert.deepEqual(metered, [heardS(1_000)]);
  });

  for (const type of ["realtime", "transcription"] as const) {
    it(`unless its transcription failed, and no second twice, whatever fails, in a session of type ${type}`, async () => {
      for (let seed = 1; seed <= 30; seed += 1) {
        const random = randomOf(seed);
        const dice = diceOf(random);
        const { runner, sent, metered, leave } = openRunner({ random, settings: { ...COMMITTED, type } });
        runner.begin();
        const turns: number[] = [];
        for (let left = dice.upTo(12); left > 0; left -= 1) {
          turns.push(150 + dice.upTo(400));
          await commit(runner, turns.at(-1)!);
          if (dice.chance(0.7)) {
            const output_modalities = [dice.one(["audio", "text"])];
            await tell(runner, { type: "response.create", response: { output_modalities } });
          }
          for (let count = dice.upTo(30); count > 0; count -= 1) await nextTurn();
          if (dice.chance(0.4)) await tell(runner, { type: "response.cancel" });
        }
        leave();
        await runner.whenIdle();
        const items = sent.flatMap(({ type, item_id }) =>
          type === "input_audio_buffer.committed" ? [item_id] : [],
        );
        const failed = sent.flatMap(({ type, item_id }) =>
          type === "conversation.item.input_audio_transcription.failed" ? [items.indexOf(item_id)] : [],
        );
        // What failed costs nothing, unless a reply had taken the turn before.
        const ms = sum(turns.filter((_, at) => !failed.includes(at)));
        // A turn begins within the samples that the one before has left in the resampler.
        const slackS = 0.004 * (failed.length + 1);
        await until(`all of session ${seed}`, () => sum(metered) >= ms / 1_000 - slackS);
        assert.ok(sum(metered) < sum(turns) / 1_000 + slackS, `session ${seed}`);
      }
    });
  }
});

describe("a session beside others", () => {
  const append = (seconds: number) => ({
    type: "input_audio_buffer.append",
    audio: Buffer.alloc(48_000 * seconds).toString("base64"),
  });

  it("takes sound in no faster than it is spoken, after half a minute", async () => {
    const [paced, free] = [openRunner({ hasOtherKeys: () => true }), openRunner()];
    let isUserSpeaking = false;
    const taking = (async () => {
      await tell(paced.runner, append(29));
      await tell(paced.runner, append(1_000));
      isUserSpeaking = true;
    })();
    await tell(free.runner, append(29));
    await tell(free.runner, append(1_000));
    assert.equal(isUserSpeaking, false);
    paced.leave();
    free.leave();
    await taking;
  });

  it("is not made to wait for what it sent faster while it was alone", async () => {
    let hasOtherKeys = false;
    const { runner, leave } = openRunner({ hasOtherKeys: () => hasOtherKeys });
    await tell(runner, append(1_000));
    hasOtherKeys = true;
    await tell(runner, append(0.1));
    leave();
  });
});

describe("requests of a session", () => {
  it("begin one after another, and not at all where they are cancelled before", async () => {
    const { runner, contexts, sent, leave } = openRunner({ random: () => 0.99 });
    runner.begin();
    for (let count = 0; count < 20; count += 1) {
      await tell(runner, { type: "response.create" });
      await tell(runner, { type: "response.cancel" });
    }
    await runner.whenIdle();
    assert.ok(contexts.filter(({ ending }) => ending === null).length === 0);
    assert.equal(sent.filter(({ type }) => type === "response.done").length, 20);
    leave();
  });
});
