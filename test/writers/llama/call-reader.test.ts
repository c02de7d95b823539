import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WriterError } from "../../../src/core/writer.ts";
import { CallReader, findObjects, readMembers } from "../../../src/writers/llama/call-reader.ts";
import type { LlamaModel, Token } from "../../../src/writers/llama/llama-runtime.ts";
import fc from "../../properties.ts";

/** The vocabulary: two tags, tokens that begin a code block or an array, and characters. */
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

/** Returns the calls in a text, and the words around them. */
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

const tokensOf = (text: string) => model.tokenize(text);
const readerOf = (maxTokens = 512) =>
  new CallReader(model, { begin: BEGIN, end: END }, { tools: TOOLS, choice: "auto", maxTokens });
/** Returns whether the reader took every token. */
const push = (reader: CallReader, tokens: readonly Token[]) =>
  tokens.map((token) => reader.push(token)).every(Boolean);
const callsIn = (text: string, options = {}) => read(text, options).calls;
const note = (args: string) => `{"name": "note", "arguments": ${args}}`;

describe("CallReader", () => {
  it("keeps arguments as the model wrote them, with every brace and digit", () => {
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

  it("reads arguments in a string, no arguments, and members in any order", () => {
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
    ["one after another", two.join("\n")],
    ["in an array", `[${two.join(", ")}]`],
    ["in a block of code", `\`\`\`json\n${two.join("\n")}\n\`\`\``],
  ] as const) {
    it(`reads calls ${what}, with tags and without`, () => {
      assert.deepEqual(callsIn(text), both);
      assert.deepEqual(read(text, { isTagged: false }), { calls: both, said: "" });
    });
  }

  it("reads an untagged call on a new line, but not after words", () => {
    assert.deepEqual(read(`\n${two[0]}`, { isTagged: false }), { calls: [both[0]], said: "\n" });
    assert.deepEqual(callsIn(`So ${two[0]}`, { isTagged: false }), []);
  });

  it("reads calls before one that is invalid or truncated", () => {
    assert.deepEqual(callsIn(`${two[0]}\n{"answer": 42}`), [both[0]]);
    assert.deepEqual(callsIn(`${two.join("\n")}}`), both, "a brace too many");
    const text = two.join("\n");
    assert.deepEqual(callsIn(text, { isTagged: false, maxTokens: text.length - 1 }), [both[0]]);
    assert.deepEqual(callsIn(`{${two[0]}`), [both[0]], "a brace too few");
  });

  it("finds no call where there is no object or no JSON", () => {
    const object = '{"name": "note", "arguments": {a: 1}}';
    for (const text of ["", "note", "{", "}{", "{note}", note("{"), object, '{"name'])
      assert.deepEqual(callsIn(text), []);
  });

  it("takes line ends between calls for part of them, and hands calls over once", () => {
    const reader = readerOf();
    assert.deepEqual(push(reader, [BEGIN, ...tokensOf(two[0]!), END, ...tokensOf("\n")]), true);
    push(reader, [BEGIN, ...tokensOf(two[1]!)]);
    assert.equal(reader.take().length, 1);
    assert.equal(reader.end().length, 1);
    assert.equal(push(reader, tokensOf("S")), false);
  });

  it("drops a call that exceeds maxTokens, and names the setting", () => {
    const reader = readerOf(2);
    push(reader, [BEGIN, ...tokensOf("{")]);
    assert.ok(reader.isFull);
    assert.deepEqual(reader.end(), []);
    assert.match(reader.failure().message, /raise writer.contextTokens/);
  });
  it("rejects more than 32 calls", () => {
    assert.throws(() => callsIn("{}".repeat(33)), WriterError);
  });
});

const object = fc.dictionary(fc.string(), fc.jsonValue());
/** JSON with and without whitespace. */
const json = fc
  .tuple(object, fc.constantFrom(undefined, " ", "\t", 2))
  .map(([value, space]) => JSON.stringify(value, null, space));

describe("findObjects and readMembers", () => {
  it("find the objects of a text, whatever is between them", () => {
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

  it("find an object's members, the last of a name", () => {
    fc.assert(
      fc.property(json, (text) => {
        const members = [...readMembers(text)].map(([name, value]) => [name, JSON.parse(value)] as const);
        assert.deepEqual(new Map(members), new Map(Object.entries(JSON.parse(text))));
      }),
    );
    assert.deepEqual([...readMembers('{"a": 1,"\\u0061":9999999999999999}')], [["a", "9999999999999999"]]);
    assert.deepEqual([...readMembers("{ }")], []);
  });

  it("take any text, in linear time", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("{", "}", "[", '"', "\\", "a", " ") }), (text) => {
        for (const each of findObjects(text)) assert.ok(each.startsWith("{") && text.includes(each));
      }),
    );
    assert.deepEqual(findObjects("{".repeat(1_000_000)), []);
    assert.deepEqual(findObjects(`{${'"'.repeat(999_999)}`), []);
  });
});
