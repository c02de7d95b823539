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

/** What happens in so many windows of these probabilities, and where it all stands then. */
function hear(pieces: readonly (readonly [number, number])[], detection: TurnDetection, isSpeaking = false) {
  const options = endpointingOptions(detection, { isReplyPlaying: isSpeaking });
  let state = INITIAL_ENDPOINTING;
  const events: EndpointingEvent[] = [];
  for (const [count, probability] of pieces) {
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

describe("the end of a turn", () => {
  it("of little speech comes with 0.6 s of silence, whatever the judge says", () => {
    const options = endpointingOptions(SEMANTIC);
    let { state, types } = hear([[18, 0.99]], SEMANTIC);
    for (let silence = 1; silence <= 19; silence += 1) {
      assert.deepEqual(applyVerdict(state, state.revision, 1, options), { state, events: [] });
      const step = advanceByWindow(state, 0.01, options);
      state = step.state;
      types = [...types, ...step.events.map(({ type }) => type)];
      assert.equal(types.includes("ended"), silence === 19);
    }
    assert.deepEqual(types, ["began", "paused", "ended"], "no judge is asked");
  });

  it("of more speech comes when it is judged finished, or with a long silence", () => {
    const options = endpointingOptions(SEMANTIC);
    const judged = hear(
      [
        [19, 0.99],
        [6, 0.01],
      ],
      SEMANTIC,
    );
    assert.deepEqual(judged.types, ["began", "paused", "judge"]);
    const { revision } = judged.state;
    const typesOf = (finished: number) =>
      applyVerdict(judged.state, revision, finished, options).events.map(({ type }) => type);
    assert.deepEqual([typesOf(0.5), typesOf(0.49)], [["ended"], []]);
    const long = hear(
      [
        [19, 0.99],
        [124, 0.01],
      ],
      SEMANTIC,
    );
    assert.ok(!long.types.includes("ended"));
  });

  it("comes after 120 s at the latest", () => {
    const { types, events } = hear([[3_760, 0.99]], SERVER);
    assert.equal(types.filter((type) => type === "ended").length, 1);
    const end = events.find(({ type }) => type === "ended");
    assert.ok(end?.type === "ended");
    assert.equal(end.at, 3_750 * 512);
  });

  it("comes by silence that nothing was sent of, at the place where speech ended", () => {
    const options = endpointingOptions(SERVER);
    let { state } = hear([[20, 0.99]], SERVER);
    let ended: EndpointingEvent | undefined;
    for (let window = 0; window < 16; window += 1) {
      const step = advanceBySilence(state, options);
      state = step.state;
      ended = step.events.find(({ type }) => type === "ended");
    }
    assert.ok(ended?.type === "ended");
    assert.equal(ended.at, 20 * 512);
    assert.equal(state.samples, 20 * 512, "no sound has come");
  });
});

it("speech that goes on may be recognised every 1.5 s", () => {
  const { types } = hear([[200, 0.99]], SERVER);
  assert.equal(types.filter((type) => type === "speaking").length, 4);
});

it("what begins while a reply is heard takes 160 ms of speech, and 96 ms otherwise", () => {
  assert.deepEqual(hear([[4, 0.99]], SERVER, true).types, []);
  assert.deepEqual(hear([[5, 0.99]], SERVER, true).types, ["began"]);
  assert.deepEqual(hear([[3, 0.99]], SERVER).types, ["began"]);
});

describe("turns, whatever is heard,", () => {
  const pieces = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 40 }), fc.constantFrom(0.01, 0.34, 0.36, 0.49, 0.51, 0.99)),
    { maxLength: 40 },
  );
  it("begin and end by turns, in order, and within what was heard", () => {
    fc.assert(
      fc.property(pieces, fc.constantFrom(SERVER, SEMANTIC), fc.boolean(), (heard, detection, isSpeaking) => {
        const { events, state } = hear(heard, detection, isSpeaking);
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
              assert.ok(!revisions.has(name), "a pause is asked about once");
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
