import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WriterError } from "../../../src/core/writer.ts";
import { CallReader, findObjects, readMembers } from "../../../src/writers/llama/call-reader.ts";
import type { LlamaModel, Token } from "../../../src/writers/llama/llama-runtime.ts";
import fc from "../../properties.ts";

/** The tokens: two tags, what models begin a block or an array with, and characters. */
const TEXTS = ["", "", "```", "[{"];
const [BEGIN, END] = [0, 1] as Token[] as [Token, Token];
const model = {
  tokenize: (text: string) =>
    (text.match(/```|\[\{|[\s\S]/g) ?? []).map((each) => {
      if (!TEXTS.includes(each)) TEXTS.push(each);
      return TEXTS.indexOf(each);
    }),
  detokenize: (tokens: readonly Token[]) => tokens.map((token) => TEXTS[token]).join(""),
} as unknown as LlamaModel;

const TOOLS = [{ name: "note" }, { name: "weather" }];

/** What is called in a text, and what is said of it. */
function read(text: string, { isTagged = true, maxTokens = 512 } = {}) {
  const options = { tools: TOOLS, choice: "auto", maxTokens } as const;
  const reader = new CallReader(model, { begin: BEGIN, end: END }, options);
  const plain = model.tokenize(text);
  let said = "";
  for (const token of isTagged ? [BEGIN, ...plain, END] : plain) {
    if (reader.isFull) break;
    if (!reader.push(token)) said += model.detokenize([token]);
  }
  const calls = reader.end().map(({ name, arguments: given }) => `${name}(${given})`);
  return { calls, said };
}

const callsIn = (text: string, options = {}) => read(text, options).calls;
const note = (given: string) => `{"name": "note", "arguments": ${given}}`;

describe("the calls of a local model", () => {
  it("have their arguments as the model wrote them: no brace is lost, and no number is rounded", () => {
    for (const given of [
      '{"text": "Dear {{name}}"}',
      '{"text": "if (x) { { y } }"}',
      '{"text": "A \\"brace\\" }} and \\\\"}',
      '{"order": 9999999999999999, "price": 1.10}',
      '{ "text" : "Hello" }',
      "{}",
    ]) {
      assert.deepEqual(callsIn(note(given)), [`note(${given})`]);
      assert.deepEqual(callsIn(`{${note(given)}}`), [`note(${given})`], "in braces once more");
      assert.deepEqual(callsIn(`{ ${note(given)} }`), [`note(${given})`]);
    }
  });

  it("may have them in a string, or none, and the members in any order", () => {
    assert.deepEqual(callsIn(note('"{\\"order\\": 9999999999999999}"')), [
      'note({"order": 9999999999999999})',
    ]);
    assert.deepEqual(callsIn('{"name": "note"}'), ["note({})"]);
    assert.deepEqual(callsIn('{"arguments": {"name": "x"}, "id": [1, {"name": 2}], "name": "note"}'), [
      'note({"name": "x"})',
    ]);
  });

  const two = [note('{"text": "a"}'), '{"name": "weather", "arguments": {"town": "Rome"}}'];
  const both = ['note({"text": "a"})', 'weather({"town": "Rome"})'];
  for (const [what, text] of [
    ["one behind the other", two.join("\n")],
    ["in an array", `[${two.join(", ")}]`],
    ["in a block of code", `\`\`\`json\n${two.join("\n")}\n\`\`\``],
  ] as const) {
    it(`are all read ${what}, with tags and without`, () => {
      assert.deepEqual(callsIn(text), both);
      assert.deepEqual(read(text, { isTagged: false }), { calls: both, said: "" });
    });
  }

  it("may begin on a new line, and not after words", () => {
    assert.deepEqual(read(`\n${two[0]}`, { isTagged: false }), { calls: [both[0]], said: "\n" });
    assert.deepEqual(callsIn(`So ${two[0]}`, { isTagged: false }), []);
  });

  it("are read before one that is none, or is cut", () => {
    assert.deepEqual(callsIn(`${two[0]}\n{"answer": 42}`), [both[0]]);
    assert.deepEqual(callsIn(`${two.join("\n")}}`), both, "a brace too many");
    const text = two.join("\n");
    assert.deepEqual(callsIn(text, { isTagged: false, maxTokens: text.length - 1 }), [both[0]]);
    assert.deepEqual(callsIn(`{${two[0]}`), [both[0]], "a brace too few");
  });

  it("are none where there is no object, or one that is no JSON", () => {
    for (const text of [
      "",
      "note",
      "{",
      "}{",
      "{note}",
      note("{"),
      '{"name": "note", "arguments": {a: 1}}',
      '{"name',
    ])
      assert.deepEqual(callsIn(text), []);
  });

  it("are refused where there are too many of them", () => {
    assert.throws(() => callsIn("{}".repeat(33)), WriterError);
  });
});

const object = fc.dictionary(fc.string(), fc.jsonValue());
/** JSON as anybody writes it: with room in it, or without. */
const json = fc
  .tuple(object, fc.constantFrom(undefined, " ", "\t", 2))
  .map(([value, space]) => JSON.stringify(value, null, space));

describe("slices of JSON", () => {
  it("are the objects of a text, whatever stands between them", () => {
    const between = fc.constantFrom("", "\n", ", ", "[", "]", "```json\n", " and ");
    fc.assert(
      fc.property(fc.array(fc.tuple(between, json), { maxLength: 5 }), between, (parts, last) => {
        const text = parts.flat().join("") + last;
        assert.deepEqual(
          findObjects(text),
          parts.map(([, each]) => each),
        );
      }),
    );
  });

  it("are the members of an object, of which the last of a name counts", () => {
    fc.assert(
      fc.property(json, (text) => {
        const members = [...readMembers(text)].map(([name, value]) => [name, JSON.parse(value)] as const);
        assert.deepEqual(new Map(members), new Map(Object.entries(JSON.parse(text))));
      }),
    );
    assert.deepEqual([...readMembers('{"a": 1,"\\u0061":9999999999999999}')], [["a", "9999999999999999"]]);
    assert.deepEqual([...readMembers("{ }")], []);
  });

  it("come of any text at all, in time", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("{", "}", "[", '"', "\\", "a", " ") }), (text) => {
        for (const each of findObjects(text)) assert.ok(each.startsWith("{") && text.includes(each));
      }),
    );
    assert.deepEqual(findObjects("{".repeat(1_000_000)), []);
    assert.deepEqual(findObjects(`{${'"'.repeat(999_999)}`), []);
  });
});
