import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canKeepUp, RealTimeBudget } from "../../src/limits/real-time-budget.ts";
import fc from "../properties.ts";

const FRAME_S = 0.08;

/** Seconds of the longest gap of any listener, if the frame that is due first is computed next at `speed`. */
function longestGapS(utterances: readonly { leadS: number; leftS: number }[], speed: number): number {
  const all = utterances.map((each) => ({ ...each, beganS: null as number | null, spokenS: each.leadS }));
  for (const each of all) if (each.leadS > 0) each.beganS = 0;
  let nowS = 0;
  let gapS = 0;
  const dueS = ({ beganS, spokenS }: (typeof all)[number]) => (beganS === null ? 0 : beganS + spokenS);
  for (;;) {
    const open = all.filter(({ leftS }) => leftS > 1e-9);
    if (open.length === 0) return gapS;
    const next = open.reduce((a, b) => (dueS(b) < dueS(a) ? b : a));
    nowS += FRAME_S / speed;
    if (next.beganS !== null) gapS = Math.max(gapS, nowS - dueS(next));
    next.beganS ??= nowS;
    next.spokenS += FRAME_S;
    next.leftS -= FRAME_S;
  }
}

describe("canKeepUp", () => {
  it("leaves no listener without speech, whatever is open", () => {
    const utterance = fc.record({
      leadS: fc.oneof(fc.constant(0), fc.double({ min: 0.08, max: 8, noNaN: true })),
      leftS: fc.double({ min: 0.08, max: 12, noNaN: true }),
    });
    const speeds = fc.double({ min: 2, max: 40, noNaN: true });
    fc.assert(
      fc.property(fc.array(utterance, { minLength: 1, maxLength: 60 }), speeds, (open, speed) => {
        // Each was admitted while the earlier ones were open.
        const admitted: (typeof open)[number][] = [];
        for (const each of open) {
          const leads = [...admitted, each].map(({ leadS }) => leadS);
          if (canKeepUp(leads, speed)) admitted.push(each);
        }
        // A listener has 200 ms in hand when it begins to play.
        assert.ok(longestGapS(admitted, speed) <= 0.2, `${admitted.length} of ${open.length}`);
      }),
    );
  });

  it("holds for fewer utterances, longer leads and faster machines", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(8), { minLength: 1 }), fc.nat(40), (open, speed) => {
        fc.pre(canKeepUp(open, speed));
        assert.ok(canKeepUp(open.slice(1), speed));
        const further = open.map((leadS) => leadS + 1);
        assert.ok(canKeepUp(further, speed));
        assert.ok(canKeepUp(open, speed + 1));
      }),
    );
  });
});

describe("RealTimeBudget", () => {
  const measured = (threads: number, ms: readonly number[]) => {
    const budget = new RealTimeBudget(threads, false);
    for (const each of ms) for (let i = 0; i < 100; i++) budget.record(FRAME_S, each);
    return budget;
  };

  it("measures the speed of all threads, and concludes nothing from the first frames", () => {
    const budget = new RealTimeBudget(2, false);
    budget.record(FRAME_S, 500);
    assert.equal(budget.speed, Number.POSITIVE_INFINITY);
    assert.ok(Math.abs(measured(2, [8]).speed - 20) < 0.01);
  });

  it("notices a slower machine sooner than a faster one", () => {
    assert.ok(measured(1, [8, 80]).speed < 1.5);
    assert.ok(measured(1, [80, 8]).speed < 2.5);
  });

  it("always takes the first utterance, and no more than a coarse model keeps up with", () => {
    const budget = new RealTimeBudget(2, true);
    for (let i = 0; i < 20; i++) budget.record(FRAME_S, 140);
    assert.equal(budget.canTakeOne([]), true);
    assert.equal(budget.canTakeOne([9]), false);
  });
});
