import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/contract/errors.ts";
import { readJsonBody } from "../../src/contract/json/read-json.ts";
import { countChars, MAX_TEXT_CHARS, MAX_TURNS } from "../../src/contract/limits.ts";
import { TtsRequest } from "../../src/contract/requests.ts";
import { parseConverseRequest, parseTtsRequest } from "../../src/contract/validate.ts";
import fc from "../properties.ts";
import { anyText } from "./any-text.ts";

const PARSERS = { parseTtsRequest, parseConverseRequest };

/** Whether the value is accepted unchanged; otherwise checks its one-line 422. */
function takesOrRefuses(parse: (body: unknown) => unknown, body: unknown): boolean {
  try {
    assert.equal(parse(body), body);
    return true;
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.status, 422);
    assert.equal(error.type, "invalid_request");
    assert.match(error.message, /^\S[^\n]*$/);
    return false;
  }
}

const scalar = fc.oneof(
  anyText(12),
  fc.double(),
  fc.integer({ min: -3, max: 2_100 }),
  fc.boolean(),
  fc.constant(null),
);
const anyValue = fc.oneof({ weight: 4, arbitrary: scalar }, fc.jsonValue({ maxDepth: 2 }));
/** Right nine times out of ten. */
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: right as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: anyValue });
const some = { requiredKeys: [] };
const nearlyNumber = (low: number, high: number) =>
  mostly(fc.oneof(fc.double({ min: low, max: high, noNaN: true }), fc.constantFrom(low, high)));
const nearlyInteger = (low: number, high: number) =>
  mostly(fc.oneof(fc.integer({ min: low, max: high }), fc.constantFrom(low, high)));
const nearlyParams = fc.record(
  {
    temperature: nearlyNumber(0, 1.5),
    acoustic_temperature: nearlyNumber(0, 1.5),
    top_k: nearlyInteger(1, 2_048),
    repetition_penalty: nearlyNumber(0, 6),
    penalty_window: nearlyInteger(1, 80),
    max_new_tokens: nearlyInteger(16, 2_048),
    audio_quality: mostly(fc.constantFrom("low", "medium", "high")),
  },
  some,
);
const nearlyTurn = fc.record(
  { speaker: mostly(anyText(3)), text: mostly(anyText()), audio_wav_b64: mostly(anyText()) },
  some,
);
const nearlyRequest = fc.record(
  {
    text: mostly(anyText()),
    speaker: mostly(anyText(3)),
    model: mostly(fc.option(anyText())),
    params: mostly(nearlyParams),
    conversation: mostly(fc.array(mostly(nearlyTurn), { maxLength: 4 })),
  },
  some,
);

/** Sections 2 and 4 of the specification, written independently of the schemas. */
function isParams(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isObject(value)) return false;
  const { temperature, acoustic_temperature, top_k, repetition_penalty, penalty_window, max_new_tokens } =
    value;
  const between = (x: unknown, low: number, high: number) => typeof x === "number" && x >= low && x <= high;
  const whole = (x: unknown, low: number, high: number) => Number.isInteger(x) && between(x, low, high);
  const optional = (x: unknown, isRight: (x: unknown) => boolean) => x === undefined || isRight(x);
  const nullable = (x: unknown, isRight: (x: unknown) => boolean) =>
    optional(x, (y) => y === null || isRight(y));
  return (
    optional(temperature, (x) => between(x, 0, 1.5)) &&
    nullable(acoustic_temperature, (x) => between(x, 0, 1.5)) &&
    nullable(top_k, (x) => whole(x, 1, Number.MAX_VALUE)) &&
    optional(repetition_penalty, (x) => between(x, 0, 6)) &&
    optional(penalty_window, (x) => whole(x, 1, 80)) &&
    optional(max_new_tokens, (x) => whole(x, 16, 2_048)) &&
    optional(value.audio_quality, (x) => ["low", "medium", "high"].includes(x as string))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const isText = (value: unknown) => typeof value === "string" && [...value].length <= MAX_TEXT_CHARS;
const isOptionalString = (value: unknown) => value === undefined || typeof value === "string";
const isNullableString = (value: unknown) => isOptionalString(value) || value === null;

function isTts(body: Record<string, unknown>): boolean {
  const { text, speaker, model, params } = body;
  return (
    isText(text) && text !== "" && isOptionalString(speaker) && isNullableString(model) && isParams(params)
  );
}

function isTurn(turn: unknown): boolean {
  if (!isObject(turn)) return false;
  const { speaker, text, audio_wav_b64 } = turn;
  const textIsGood = text === undefined || text === null || isText(text);
  return isOptionalString(speaker) && textIsGood && isNullableString(audio_wav_b64);
}

function isConverse(body: Record<string, unknown>): boolean {
  const { conversation, model, params } = body;
  const isListOfTurns =
    Array.isArray(conversation) &&
    conversation.length >= 1 &&
    conversation.length <= MAX_TURNS &&
    conversation.every(isTurn);
  return isListOfTurns && isNullableString(model) && isParams(params);
}

it("rejects a number that overflows", () => {
  for (const field of ["top_k", "temperature", "max_new_tokens"]) {
    const body: unknown = JSON.parse(`{"text":"Hi.","params":{"${field}":1e999}}`);
    const message = new RegExp(`params.${field} `);
    assert.throws(() => PARSERS.parseTtsRequest(body), { status: 422, message });
  }
});

for (const [name, parse] of Object.entries(PARSERS)) {
  describe(name, () => {
    it("accepts or rejects anything, and throws nothing but a 422", () => {
      const kinds = { withBigInt: true, withDate: true, withMap: true, withNullPrototype: true };
      const anything = fc.oneof(fc.anything(kinds), nearlyRequest);
      fc.assert(
        fc.property(anything, (body) => void takesOrRefuses(parse, body)),
        { numRuns: 500 },
      );
    });

    it("accepts exactly what the specification's tables allow", () => {
      const isValid = parse === parseTtsRequest ? isTts : isConverse;
      let taken = 0;
      fc.assert(
        fc.property(nearlyRequest, (body) => {
          const isTaken = takesOrRefuses(parse, body);
          assert.equal(isTaken, isValid(body));
          if (isTaken) taken++;
        }),
        { numRuns: 2_000 },
      );
      assert.ok(taken > 200 && taken < 1_900, `${taken} of 2000 were accepted`);
    });

    it("never repeats a value in its refusal", () => {
      const secret = "Zanzibarbados";
      const good = { text: "Hi.", conversation: [{ text: "Hi." }] };
      const bad = [
        { ...good, text: [secret], conversation: [{ text: [secret] }] },
        { ...good, text: secret.repeat(1_000), conversation: [{ text: secret.repeat(1_000) }] },
        { ...good, params: { audio_quality: secret } },
        { ...good, params: secret },
        { ...good, model: { [secret]: secret } },
      ];
      for (const body of bad)
        assert.throws(
          () => parse(body),
          (error: Error) => !error.message.includes(secret),
        );
    });
  });
}

it("a JSON body is read or refused with a 422 that quotes none of it, whatever the bytes", () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    anyText().map(encode),
    fc.json().map(encode),
    fc.json({ maxDepth: 2 }).map((json) => encode(json.slice(0, -1))),
  );
  const refusal =
    /^the body is (empty: send a JSON object|not valid UTF-8|not valid JSON: (look at byte \d+|it ends too early))$/;
  fc.assert(
    fc.property(bytes, (body) => {
      try {
        readJsonBody(body, TtsRequest);
      } catch (error) {
        assert.ok(error instanceof ServiceError, String(error));
        assert.equal(error.status, 422);
        assert.match(error.message, refusal);
      }
    }),
    { numRuns: 500 },
  );
});

describe("The length of a text", () => {
  it("is counted in code points, lone surrogates included", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        assert.equal(countChars(text), [...text].length);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is limited in code points", () => {
    const characters = ["a", "é", "好", "😀", "\ud800", "\u0301"];
    for (const character of characters) {
      const longest = character.repeat(MAX_TEXT_CHARS);
      assert.equal(countChars(longest), MAX_TEXT_CHARS);
      assert.equal(parseTtsRequest({ text: longest }).text, longest);
      assert.throws(() => parseTtsRequest({ text: longest + character }), { status: 422 });
    }
  });
});
