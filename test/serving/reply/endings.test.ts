import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SpeechFailedError } from "../../../src/core/speech-model.ts";
import type { SpeechOutcome, SpeechRequest } from "../../../src/serving/reply/speech-service.ts";
import type { EndedUtterance } from "../../../src/serving/telemetry.ts";
import { until } from "../../waiting.ts";
import { caller, collect, Engine, forever, PREPARED, serviceOver, withClock } from "../service-over.ts";

type Service = ReturnType<typeof serviceOver>["service"];

const ENDINGS: readonly (readonly [
  what: string,
  reason: EndedUtterance["reason"],
  frames: number,
  setup: Parameters<typeof serviceOver>[0],
  ask: (service: Service, engine: Engine) => Promise<unknown>,
])[] = [
  ["spoken in full", "finished", 10, {}, (service) => collect(service.speak(PREPARED, caller()))],
  [
    "whose engine fails",
    "failed",
    4,
    { engine: new Engine((index) => failAt(index, 4)) },
    (service) => assert.rejects(collect(service.speak(PREPARED, caller()))),
  ],
  [
    "that cannot be metered",
    "failed",
    10,
    { meter: () => Promise.reject(new Error("the disk is full")) },
    (service) => assert.rejects(collect(service.speak(PREPARED, caller()))),
  ],
  [
    "whose client disconnects",
    "gone",
    3,
    { engine: new Engine((index) => (index === 3 ? forever() : undefined)) },
    async (service, engine) => {
      const client = new AbortController();
      const speaking = collect(service.speak(PREPARED, caller({ signal: client.signal })));
      await until("the third frame", () => engine.given === 3);
      client.abort(new Error("gone"));
      await assert.rejects(speaking);
    },
  ],
  [
    "whose consumer returns",
    "gone",
    2,
    {},
    async (service) => {
      const speech = service.speak(PREPARED, caller());
      await speech.next();
      await speech.next();
      await speech.return({} as SpeechOutcome);
    },
  ],
];

function failAt(index: number, at: number): void {
  if (index === at) throw new SpeechFailedError("the thread died");
}

describe("telemetry", () => {
  for (const [what, reason, frames, setup, ask] of ENDINGS) {
    it(`reports an utterance ${what} once as ${reason}`, async () => {
      const ended: EndedUtterance[] = [];
      const telemetry = { ended: (utterance: EndedUtterance) => void ended.push(utterance) };
      const { service, engine } = serviceOver({ ...setup, telemetry });
      await ask(service, engine);
      assert.equal(ended.length, 1);
      const { engineS, ...rest } = ended[0]!;
      const { id: model } = PREPARED.model.card;
      assert.deepEqual(rest, { model, format: "pcm", reason, audioS: (frames * 1_920) / 24_000 });
      assert.ok(engineS >= 0);
    });
  }

  it("reports an idle utterance that was ended for others as failed", async () => {
    const ended: string[] = [];
    await withClock(async (tick) => {
      let nowMs = 0;
      const options = { concurrency: 1, keyConcurrency: 1, queueWaitMs: 60_000, nowMs: () => nowMs };
      const telemetry = { ended: ({ reason }: EndedUtterance) => void ended.push(reason) };
      const { service } = serviceOver({ options, telemetry });
      const idle = ["a", "b"].map((keyId) => {
        const client = new AbortController();
        const onEnded = (): void => client.abort(new Error("cut"));
        const who: SpeechRequest = { ...caller({ keyId, signal: client.signal }), onEnded };
        return service.speak(PREPARED, who);
      });
      for (const speech of idle) {
        const first = speech.next();
        nowMs += 600;
        await tick(100);
        await first;
      }
      const third = collect(service.speak(PREPARED, caller({ keyId: "c" })));
      nowMs += 6_000;
      await tick(100);
      await tick(100);
      await idle[0]!.return({} as SpeechOutcome);
      await tick(100);
      await third;
      assert.deepEqual(ended, ["failed", "finished"]);
      await idle[1]!.return({} as SpeechOutcome);
    });
  });
});
