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

const send = (runner: Runner, event: unknown) =>
  runner.receive(readClientEvent(Buffer.from(JSON.stringify(event))));

async function commit(runner: Runner, ms: number): Promise<void> {
  const audio = Buffer.alloc(48 * ms).toString("base64");
  await send(runner, { type: "input_audio_buffer.append", audio });
  await send(runner, { type: "input_audio_buffer.commit" });
}

/** Seconds of decoded audio. */
const decodedS = (ms: number) => new InputAudioDecoder(PCM).push(new Uint8Array(48 * ms)).length / 16_000;

describe("a committed turn is metered", () => {
  it("with its reply, or by itself if that fails or is cancelled before its first audio", async () => {
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
    await send(runner, { type: "response.create" });
    await done(1);
    await commit(runner, 500);
    await send(runner, { type: "response.create" });
    await until("the second", () => asked.length === 2);
    await send(runner, { type: "response.cancel" });
    await runner.whenIdle();
    await commit(runner, 250);
    await send(runner, { type: "response.create" });
    await done(3);
    leave();
    await runner.whenIdle();
    const turns = [decodedS(1_000), decodedS(1_500) - decodedS(1_000), decodedS(1_750) - decodedS(1_500)];
    assert.deepEqual(asked, turns);
    assert.deepEqual(metered, turns.slice(0, 2), "nothing is metered again at the end");
  });

  it("at the end of the session if its reply has sent no audio", async () => {
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
    await send(runner, { type: "response.create" });
    await until("the reply", () => isAsked);
    leave();
    await runner.whenIdle();
    assert.deepEqual(metered, [decodedS(1_000)]);
  });

  for (const type of ["realtime", "transcription"] as const) {
    it(`once, unless its transcription fails, in a session of type ${type}`, async () => {
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
            await send(runner, { type: "response.create", response: { output_modalities } });
          }
          for (let count = dice.upTo(30); count > 0; count -= 1) await nextTurn();
          if (dice.chance(0.4)) await send(runner, { type: "response.cancel" });
        }
        leave();
        await runner.whenIdle();
        const items = sent.flatMap(({ type, item_id }) =>
          type === "input_audio_buffer.committed" ? [item_id] : [],
        );
        const failed = sent.flatMap(({ type, item_id }) =>
          type === "conversation.item.input_audio_transcription.failed" ? [items.indexOf(item_id)] : [],
        );
        // A failed transcription is free unless a reply took the turn before.
        const ms = sum(turns.filter((_, at) => !failed.includes(at)));
        // A turn begins within the samples that the last one left in the resampler.
        const slackS = 0.004 * (failed.length + 1);
        await until(`all of session ${seed}`, () => sum(metered) >= ms / 1_000 - slackS);
        assert.ok(sum(metered) < sum(turns) / 1_000 + slackS, `session ${seed}`);
      }
    });
  }
});

describe("a session with other sessions open", () => {
  const append = (seconds: number) => ({
    type: "input_audio_buffer.append",
    audio: Buffer.alloc(48_000 * seconds).toString("base64"),
  });

  it("is read no faster than real time after half a minute of audio", async () => {
    const [paced, free] = [openRunner({ hasOtherKeys: () => true }), openRunner()];
    let isUserSpeaking = false;
    const taking = (async () => {
      await send(paced.runner, append(29));
      await send(paced.runner, append(1_000));
      isUserSpeaking = true;
    })();
    await send(free.runner, append(29));
    await send(free.runner, append(1_000));
    assert.equal(isUserSpeaking, false);
    paced.leave();
    free.leave();
    await taking;
  });

  it("does not wait for audio that it sent faster while it was alone", async () => {
    let hasOtherKeys = false;
    const { runner, leave } = openRunner({ hasOtherKeys: () => hasOtherKeys });
    await send(runner, append(1_000));
    hasOtherKeys = true;
    await send(runner, append(0.1));
    leave();
  });
});

describe("requests of a session", () => {
  it("begin one after another, and not at all if cancelled first", async () => {
    const { runner, contexts, sent, leave } = openRunner({ random: () => 0.99 });
    runner.begin();
    for (let count = 0; count < 20; count += 1) {
      await send(runner, { type: "response.create" });
      await send(runner, { type: "response.cancel" });
    }
    await runner.whenIdle();
    assert.ok(contexts.filter(({ ending }) => ending === null).length === 0);
    assert.equal(sent.filter(({ type }) => type === "response.done").length, 20);
    leave();
  });
});
