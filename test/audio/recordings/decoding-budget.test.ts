import assert from "node:assert/strict";
import { test } from "node:test";
import { DecodingBudget } from "../../../src/audio/recordings/decoding-budget.ts";

test("sound is charged by seconds, whatever its rate", () => {
  for (const rateHz of [8_000, 16_000, 96_000]) {
    const budget = new DecodingBudget(10);
    budget.chargeSound(10 * rateHz, 1, rateHz);
    assert.throws(() => budget.chargeSound(rateHz, 1, rateHz), { name: "RecordingTooLongError", maxS: 10 });
  }
});

test("work is charged per channel, part and unit from one account", () => {
  const spent = (spend: (budget: DecodingBudget) => void): number => {
    const budget = new DecodingBudget(1);
    for (let times = 0; ; times += 1) {
      try {
        spend(budget);
      } catch (error) {
        assert.equal((error as Error).name, "AudioFormatError");
        assert.match((error as Error).message, /more work to decode than any recording of speech: send it/);
        return times;
      }
    }
  };
  assert.equal(
    spent((budget) => budget.chargeWork(1_000)),
    192,
  );
  assert.equal(
    spent((budget) => budget.chargeItems(10)),
    300,
  );
  assert.equal(
    spent((budget) => {
      budget.chargeSound(500, 8, 96_000);
      budget.chargeItems(10);
      budget.chargeWork(1_000);
    }),
    34,
  );
});

test("rates and lengths beyond speech are refused by the header", () => {
  const budget = new DecodingBudget(10);
  budget.checkFormat(96_000, 8);
  budget.checkFormat(1_000, 1);
  for (const rateHz of [0, 999, 96_001, 655_350, 1_048_575]) {
    assert.throws(() => budget.checkFormat(rateHz, 1), {
      message: /its sample rate is \d+ Hz, .*: send it at/,
    });
  }
  assert.throws(() => budget.checkFormat(16_000, 9), { message: /it has 9 channels, .*: send it with one/ });
  budget.checkLength(10);
  assert.throws(() => budget.checkLength(10.001), { name: "RecordingTooLongError" });
});
