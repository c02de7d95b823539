import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  advanceBySilence,
  advanceByWindow,
  applyVerdict,
  dropTurn,
  type EndpointingEvent,
  endpointingOptions,
  INITIAL_ENDPOINTING,
} from "../../../src/api/realtime/endpointing.ts";
import type { TurnDetection } from "../../../src/contract/realtime/session.ts";
import fc from "../../properties.ts";

/** Runs windows of speech probabilities, given as [count, probability, …]. */
function advance(pieces: readonly number[], detection: TurnDetection, isReplyPlaying = false) {
  const options = endpointingOptions(detection, { isReplyPlaying });
  let state = INITIAL_ENDPOINTING;
  const events: EndpointingEvent[] = [];
  for (let at = 0; at < pieces.length; at += 2) {
    const [count, probability] = [pieces[at]!, pieces[at + 1]!];
    for (let window = 0; window < count; window += 1) {
      const step = advanceByWindow(state, probability, options);
      state = step.state;
      events.push(...step.events);
    }
  }
  return { state, events, types: events.map(({ type }) => type) };
}

const SEMANTIC: TurnDetection = { type: "semantic_vad" };
const SERVER: TurnDetection = { type: "server_vad" };
const endsIn = (events: readonly EndpointingEvent[]) =>
  events.flatMap((event) => (event.type === "ended" ? [event.at] : []));

describe("a turn", () => {
  it("with little speech ends after 0.6 s of silence without asking the judge", () => {
    const options = endpointingOptions(SEMANTIC);
    let { state, types } = advance([18, 0.99], SEMANTIC);
    for (let silence = 1; silence <= 19; silence += 1) {
      assert.deepEqual(applyVerdict(state, state.revision, 1, options), { state, events: [] });
      const step = advanceByWindow(state, 0.01, options);
      state = step.state;
      types = [...types, ...step.events.map(({ type }) => type)];
      assert.equal(types.includes("ended"), silence === 19);
    }
    assert.deepEqual(types, ["began", "paused", "sentence_pause", "ended"]);
  });

  it("with more speech ends when it is judged finished, or with a long silence", () => {
    const options = endpointingOptions(SEMANTIC);
    const judged = advance([19, 0.99, 6, 0.01], SEMANTIC);
    assert.deepEqual(judged.types, ["began", "paused", "sentence_pause", "judge"]);
    const { revision } = judged.state;
    const typesOf = (finished: number) =>
      applyVerdict(judged.state, revision, finished, options).events.map(({ type }) => type);
    assert.deepEqual([typesOf(0.5), typesOf(0.49)], [[], []]);
    const known = endpointingOptions({ ...SEMANTIC, eagerness: "high" }, { ending: "sentence" });
    const endOf = (finished: number) => applyVerdict(judged.state, revision, finished, known).events.length;
    assert.deepEqual([endOf(0.3), endOf(0.29)], [1, 0]);
    assert.ok(!advance([19, 0.99, 124, 0.01], SEMANTIC).types.includes("ended"));
  });

  it("ends after 120 s at the latest", () => {
    const { events } = advance([3_760, 0.99], SERVER);
    assert.deepEqual(endsIn(events), [3_750 * 512]);
  });

  it("ends where speech stopped if no more audio is sent", () => {
    const options = endpointingOptions(SERVER);
    let { state } = advance([20, 0.99], SERVER);
    let ends: number[] = [];
    for (let window = 0; window < 16; window += 1) {
      const step = advanceBySilence(state, options);
      state = step.state;
      ends = endsIn(step.events);
    }
    assert.deepEqual([ends, state.samples], [[20 * 512], 20 * 512]);
  });

  it("can be transcribed every 1.5 s while it lasts", () => {
    const { types } = advance([200, 0.99], SERVER);
    assert.equal(types.filter((type) => type === "speaking").length, 4);
  });

  it("begins with 160 ms of speech during playback, and with 96 ms otherwise", () => {
    assert.deepEqual(advance([4, 0.99], SERVER, true).types, []);
    assert.deepEqual(advance([5, 0.99], SERVER, true).types, ["began"]);
    assert.deepEqual(advance([3, 0.99], SERVER).types, ["began"]);
  });

  const probability = fc.constantFrom(0.01, 0.34, 0.36, 0.49, 0.51, 0.99);
  const pieces = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), probability), { maxLength: 40 });
  it("begins and ends in order and within the audio, for any probabilities", () => {
    fc.assert(
      fc.property(pieces, fc.constantFrom(SERVER, SEMANTIC), fc.boolean(), (given, detection, isPlaying) => {
        const { events, state } = advance(given.flat(), detection, isPlaying);
        let open: number | null = null;
        let last = 0;
        const revisions = new Set<string>();
        for (const event of events) {
          if (event.type === "began") {
            assert.equal(open, null);
            assert.ok(event.at >= last);
            open = event.at;
          } else {
            assert.notEqual(open, null);
            if (event.type === "paused" || event.type === "judge") {
              const name = `${event.type} ${event.revision}`;
              assert.ok(!revisions.has(name), "a pause is reported twice");
              revisions.add(name);
            }
            if ("at" in event) assert.ok(event.at > open! && event.at <= state.samples);
            if (event.type === "ended") {
              open = null;
              last = event.at;
            }
          }
        }
        assert.equal(state.startSample, open);
        assert.equal(dropTurn(state).startSample, null);
      }),
    );
  });
});
