import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DEFAULT_PARAMS, GenParams, paramKnobs, resolveParams } from "../../src/contract/params.ts";
import { parseTtsRequest } from "../../src/contract/validate.ts";

interface KnobSchema {
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

const schemas = Object.entries(GenParams.properties as Record<string, KnobSchema>);

describe("The generation parameters", () => {
  it("have the specification's defaults and ranges", () => {
    const table = schemas.map(([name, { default: fallback, minimum, maximum }]) => [
      name,
      fallback,
      minimum,
      maximum,
    ]);
    assert.deepEqual(table, [
      ["temperature", 0.7, 0, 1.5],
      ["acoustic_temperature", null, 0, 1.5],
      ["top_k", null, 1, undefined],
      ["repetition_penalty", 3, 0, 6],
      ["penalty_window", 20, 1, 80],
      ["max_new_tokens", 512, 16, 2_048],
      ["audio_quality", "high", undefined, undefined],
    ]);
  });

  it("have the same defaults in the schema, in requests and in /v1/info", () => {
    const fromSchema = Object.fromEntries(schemas.map(([name, schema]) => [name, schema.default]));
    assert.deepEqual(fromSchema, DEFAULT_PARAMS);
    assert.deepEqual(resolveParams(undefined), DEFAULT_PARAMS);
    assert.deepEqual(resolveParams({}), DEFAULT_PARAMS);
    assert.deepEqual(
      Object.fromEntries(paramKnobs().map((knob) => [knob.name, knob.default])),
      DEFAULT_PARAMS,
    );
    assert.doesNotThrow(() => parseTtsRequest({ text: "Hi.", params: DEFAULT_PARAMS }));
  });

  it("report the models that ignore them, and why", () => {
    const unused = { a: { topK: "It has no list.", maxFrames: "It ends by itself." }, b: {} };
    const reported = paramKnobs(unused).flatMap(({ name, unused_by }) =>
      Object.entries(unused_by).map(([model, why]) => [name, model, why]),
    );
    assert.deepEqual(reported, [
      ["top_k", "a", "It has no list."],
      ["max_new_tokens", "a", "It ends by itself."],
    ]);
    assert.deepEqual(
      paramKnobs().map(({ unused_by }) => unused_by),
      paramKnobs().map(() => ({})),
    );
  });

  it("are resolved one by one, and null stays null", () => {
    const given = { temperature: 0, acoustic_temperature: null, top_k: 5 };
    assert.deepEqual(resolveParams(given), { ...DEFAULT_PARAMS, ...given });
  });

  it("accept the bounds that /v1/info reports, and nothing beyond", () => {
    const takes = (name: string, value: unknown) => {
      try {
        parseTtsRequest({ text: "Hi.", params: { [name]: value } });
        return true;
      } catch {
        return false;
      }
    };
    for (const { name, minimum, maximum, step = 1, nullable, choices } of paramKnobs()) {
      assert.equal(takes(name, null), nullable, `${name}: null`);
      for (const choice of choices ?? []) assert.ok(takes(name, choice), `${name}: ${choice}`);
      if (minimum !== undefined)
        assert.deepEqual([takes(name, minimum), takes(name, minimum - step)], [true, false], name);
      if (maximum !== undefined)
        assert.deepEqual([takes(name, maximum), takes(name, maximum + step)], [true, false], name);
    }
  });
});
