import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  inverseFrequencies,
  type RotarySettings,
  rotaryTables,
} from "../../../src/engines/codec-lm/networks/transformer.ts";
import {
  argmax,
  probabilities,
  replayRng,
  sampleCode,
  seededRng,
} from "../../../src/engines/codec-lm/sampler.ts";
import { readCase } from "./goldens.ts";

describe("sampleCode and probabilities", () => {
  test("equal the reference's, with ties at top_k", async () => {
    const table = await readCase<{
      logits: number[][];
      rows: { logits: number; temperature: number; top_k: number | null; probs: number[] }[];
    }>("sampling", "table.json");
    assert.equal(table.rows.length, 27);
    for (const { logits, temperature, top_k: topK, probs } of table.rows) {
      const found = probabilities(Float32Array.from(table.logits[logits]!), { temperature, topK });
      probs.forEach((wanted, at) => {
        assert.ok(Math.abs(found[at]! - wanted) <= 1e-6, `${logits} ${temperature} ${topK}: ${at}`);
      });
    }
  });

  const logits = Float32Array.from([0.1, 0.2, 0.3, 0.4], Math.log);
  const shares = (topP: number) =>
    [...probabilities(logits, { temperature: 1, topK: null, topP })].map((share) => +share.toFixed(3));

  test("drop the unlikeliest codes beyond top_p, but never the likeliest", () => {
    assert.deepEqual(shares(0.85), [0, 0.222, 0.333, 0.444]);
    assert.deepEqual(shares(0.65), [0, 0, 0.429, 0.571]);
    assert.deepEqual(shares(0.01), [0, 0, 0, 1]);
    assert.deepEqual(shares(1), [0.1, 0.2, 0.3, 0.4]);
  });

  test("choose the likeliest code as the temperature nears 0", () => {
    for (const temperature of [0, 5e-324, 1e-300, 1e-38, 1e-31, 1e-29, 1e-9]) {
      for (const topK of [null, 2]) {
        for (const number of [0, 0.5, 0.999]) {
          assert.equal(
            sampleCode(logits, { temperature, topK }, () => number),
            3,
            `${temperature}`,
          );
        }
      }
    }
  });

  test("reject non-finite scores", () => {
    const damaged = Float32Array.of(1, Number.NaN, 2);
    const infinite = Float32Array.of(1, Number.POSITIVE_INFINITY, 2);
    for (const scores of [damaged, infinite])
      assert.throws(() => sampleCode(scores, { temperature: 1, topK: null }, () => 0.5), /NaN or infinite/);
  });

  test("choose the code at which the cumulative share exceeds the draw", () => {
    const draws = replayRng([0, 0.0999, 0.1001, 0.59, 0.9999999]);
    const choices = Array.from({ length: 5 }, () =>
      sampleCode(logits, { temperature: 1, topK: null }, draws),
    );
    assert.deepEqual(choices, [0, 0, 1, 2, 3]);
    assert.throws(draws, /Only 5 draws were given/);
  });

  test("choose the first likeliest code at temperature 0, without a draw", () => {
    const code = sampleCode(Float32Array.of(1, 3, 3), { temperature: 0, topK: 5 }, () => assert.fail("drew"));
    assert.equal(code, 1);
    assert.equal(argmax(Float32Array.of(Number.NEGATIVE_INFINITY, -5)), 1);
  });
});

test("seededRng repeats with its seed, and is uniform", () => {
  const draws = (seed: bigint, count: number) => {
    const next = seededRng(seed);
    return Array.from({ length: count }, next);
  };
  assert.deepEqual(draws(7n, 100), draws(7n, 100));
  assert.notEqual(draws(7n, 1)[0], draws(8n, 1)[0]);
  const many = draws(1n, 4_000);
  assert.ok(many.every((each) => each >= 0 && each < 1));
  const tenths = Array.from({ length: 10 }, (_, at) => many.filter((each) => Math.floor(each * 10) === at));
  for (const { length } of tenths) assert.ok(length > 320 && length < 480, `${length} in a tenth`);
});

describe("Rotary embeddings", () => {
  test("have the reference's frequencies, with Llama 3's scaling", async () => {
    const cases = await readCase<
      {
        name: string;
        head_dim: number;
        rope_parameters: Record<string, number>;
        inv_freq: number[];
      }[]
    >("rope", "inv_freq.json");
    assert.equal(cases.length, 5);
    for (const { name, head_dim: width, rope_parameters: rope, inv_freq: wanted } of cases) {
      const stretched: RotarySettings["scaling"] =
        rope.factor === undefined
          ? null
          : {
              factor: rope.factor,
              lowFactor: rope.low_freq_factor!,
              highFactor: rope.high_freq_factor!,
              originalPositions: rope.original_max_position_embeddings!,
            };
      const found = inverseFrequencies(width, { theta: rope.rope_theta!, scaling: stretched });
      wanted.forEach((each, at) => {
        assert.ok(Math.abs(found[at]! / each - 1) < 1e-6, `${name}: ${at}`);
      });
    }
  });

  test("have a cosine and a sine for each position and frequency", () => {
    const { cosines, sines } = rotaryTables(3, 4, { theta: 100, scaling: null });
    assert.deepEqual([...cosines], [0, 0, 1, 0.1, 2, 0.2].map(Math.cos).map(Math.fround));
    assert.deepEqual(
      [...sines].map((x) => x.toFixed(6)),
      [0, 0, 1, 0.1, 2, 0.2].map((x) => Math.sin(x).toFixed(6)),
    );
  });
});
