import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { JsonText, readJson, readJsonBody, readSettingsJson } from "../../../src/contract/json/read-json.ts";
import { SessionUpdate } from "../../../src/contract/realtime/session.ts";
import { ConverseRequest } from "../../../src/contract/requests.ts";
import fc from "../../properties.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
/** A schema whose shape alone matters. */
const SCHEMA = { properties: { ...ConverseRequest.properties, text: { maxLength: 8_000 } } };
const read = (text: string) => readJsonBody(bytesOf(text), SCHEMA).value;
const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const isRead = (text: string): boolean => {
  try {
    read(text);
    return true;
  } catch (error) {
    assert.equal((error as { status?: number }).status, 422, String(error));
    return false;
  }
};

describe("readJsonBody", () => {
  it("returns what JSON.parse returns, reduced to the schema", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 30 });
    const scalar = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null), fc.integer());
    const turn = fc.record({ speaker: scalar, text: scalar, audio_wav_b64: scalar }, { requiredKeys: [] });
    const params = fc.record({ temperature: scalar, top_k: scalar }, { requiredKeys: [] });
    const body = fc.record(
      {
        text: scalar,
        model: scalar,
        conversation: fc.oneof(scalar, fc.array(turn)),
        params,
        lexicon: fc.oneof(scalar, fc.dictionary(text, scalar, { noNullPrototype: true })),
      },
      { requiredKeys: [] },
    );
    const layout = fc.constantFrom(undefined, " ", "\t", "\n  ");
    fc.assert(
      fc.property(body, layout, fc.jsonValue(), (value, space, ignored) => {
        // JSON has no -0, NaN or Infinity.
        const plain = JSON.parse(JSON.stringify(value));
        assert.deepEqual(read(JSON.stringify({ ...plain, mood: ignored }, null, space)), plain);
      }),
    );
  });

  it("accepts exactly the texts that JSON.parse accepts", () => {
    const change = fc.record({
      at: fc.nat(),
      kind: fc.constantFrom("drop", "double", "put"),
      byte: fc.constantFrom(...'{}[],:"\\/0123456789-+.eEtfnu \n\t\u0001x'),
    });
    const grown = fc
      .json({ maxDepth: 4 })
      .chain((json) => fc.tuple(fc.constant(json), fc.array(change, { maxLength: 2 })));
    fc.assert(
      fc.property(grown, fc.boolean(), ([json, changes], isInside) => {
        let text = isInside ? `{"ignored": ${json}}` : json;
        for (const { at, kind, byte } of changes) {
          const place = at % (text.length + 1);
          const rest = text.slice(place + 1);
          if (kind === "drop") text = text.slice(0, place) + rest;
          else if (kind === "double") text = text.slice(0, place + 1) + text.slice(place);
          else text = text.slice(0, place) + byte + rest;
        }
        if (!text.isWellFormed() || text === "") return;
        assert.equal(isRead(text), isJson(text), JSON.stringify(text));
      }),
      { numRuns: 3_000 },
    );
  });

  it("drops members that the schema does not name, and keeps the last duplicate", () => {
    const text = '{"__proto__":{"text":"x"},"text":"a","constructor":1,"te\\u0078t":"b"}';
    assert.deepEqual(read(text), { text: "b" });
    assert.equal(Object.getPrototypeOf(read('{"__proto__":{"x":1}}')), Object.prototype);
  });

  it("keeps free members of any name, up to one more than the limit", () => {
    const lexiconOf = (text: string) => (read(text) as { lexicon: object }).lexicon;
    const free = { __proto__: null, "": "a", "ü 1": "b", text: "c", constructor: "d", lexicon: "e" };
    assert.deepEqual(read(JSON.stringify({ text: "x", lexicon: free })), { text: "x", lexicon: { ...free } });
    const odd = lexiconOf('{"lexicon":{"__proto__":"x","a":{"b":[1]},"a":{"c":{"d":1}}}}');
    assert.deepEqual(Object.entries(odd), [
      ["__proto__", "x"],
      ["a", {}],
    ]);
    assert.equal(Object.getPrototypeOf(odd), Object.prototype);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`w${index}`, "x"]));
    assert.equal(Object.keys(lexiconOf(JSON.stringify({ lexicon: many }))).length, 101);
    const long = lexiconOf(JSON.stringify({ lexicon: { ["x".repeat(5_000)]: "y" } }));
    assert.ok(Object.keys(long)[0]!.length > 64, "a long name stays too long");
  });

  it("reports the byte of a syntax error and quotes nothing", () => {
    for (const [text, where] of [
      ['{"text":secret}', /look at byte 8$/],
      ['{"text":"a"', /ends too early$/],
      ['{"text":"a"} b', /look at byte 13$/],
      ['{"x":[1,2,]}', /look at byte 10$/],
      ["{'text':1}", /look at byte 1$/],
    ] as const)
      assert.throws(() => read(text), { status: 422, message: where }, text);
  });

  it("takes a byte order mark and requires UTF-8, also in ignored members", () => {
    assert.deepEqual(read('\ufeff{"text":"ä"}'), { text: "ä" });
    for (const name of ["text", "ignored", "audio_wav_b64"]) {
      for (const before of ["", "x".repeat(200_000)]) {
        const parts = [`{"conversation":[{"${name}":"${before}`, Buffer.from([0xc3]), '"}]}'];
        const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
        assert.throws(() => readJsonBody(bytes, SCHEMA), { status: 422, message: /UTF-8/ });
      }
    }
    // A four-byte character across the chunks in which a long string is scanned.
    for (let before = 65_530; before < 65_537; before++) read(`{"ignored":"${"x".repeat(before)}🎉"}`);
  });

  it("uses one byte per nesting level for ignored values", () => {
    const deep = 1_000_000;
    assert.deepEqual(read(`{"text":"a","x":${"[".repeat(deep)}${"]".repeat(deep)}}`), { text: "a" });
    assert.deepEqual(read(`{"text":"a","x":[${"{},".repeat(deep)}{}]}`), { text: "a" });
    const { conversation } = read(`{"conversation":[${"{},".repeat(deep)}{}]}`) as {
      conversation: unknown[];
    };
    assert.equal(conversation.length, 65);
    const nested = read(`{"conversation":[[[[[1]]]],{"text":{"a":[1]}}]}`);
    assert.deepEqual(nested, { conversation: [[], { text: {} }] });
  });

  it("decodes long audio on demand, and keeps other long strings too long", () => {
    const audio = "UklG".repeat(60_000);
    const escaped = audio.replace("kl", "k\\/\\u006c");
    const turns = `[{"audio_wav_b64":"${audio}"},{"audio_wav_b64":"${escaped}"}]`;
    const body = readJsonBody(bytesOf(`{"conversation":${turns},"text":"${audio}"}`), SCHEMA);
    const { conversation, text } = body.value as { conversation: { audio_wav_b64: string }[]; text: string };
    const [plain, unescaped] = conversation.map(({ audio_wav_b64 }) => audio_wav_b64);
    assert.ok(plain!.length < 100 && unescaped!.length < 100);
    assert.equal(body.textOf(plain!), audio);
    assert.equal(body.textOf(unescaped!), audio.replace("kl", "k/l"));
    assert.equal(body.textOf("UklG"), "UklG");
    for (const own of ["\u00000", "\u0000", `${plain}0`])
      assert.equal(body.textOf(own), own, "an invented reference stands for itself");
    assert.ok(text.length > 8_000);
  });
});

describe("readJson", () => {
  interface Bounded {
    properties?: Record<string, Bounded>;
    items?: Bounded;
    maxItems?: number;
    maxLength?: number;
    anyOf?: Bounded[];
    type?: string;
    maxTextBytes?: number;
  }
  /** The largest value that a schema allows, a little over its bounds. */
  function largest({
    properties,
    items,
    maxItems = 100,
    maxLength = 10_000,
    anyOf,
    type,
    maxTextBytes,
  }: Bounded): unknown {
    const sizeOf = (value: unknown) => JSON.stringify(value).length;
    if (anyOf !== undefined) return anyOf.map(largest).sort((a, b) => sizeOf(b) - sizeOf(a))[0];
    if (maxTextBytes !== undefined) return "x".repeat(maxTextBytes);
    if (properties !== undefined)
      return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, largest(each)]));
    if (items !== undefined) return Array.from({ length: maxItems + 1 }, () => largest(items));
    return type === undefined || type === "string" ? "x".repeat(maxLength + 1) : 123_456.789;
  }

  it("is bounded by the schema, however much was sent", () => {
    const item = { properties: { n: { type: "number" }, s: { type: "string", maxLength: 5 } } };
    const either = [{ properties: { a: { maxLength: 4 } } }, { properties: { b: { maxLength: 4 } } }];
    const small = {
      properties: {
        name: { type: "string", maxLength: 10 },
        list: { items: item, maxItems: 3 },
        free: { type: "object", maxTextBytes: 100 },
        either: { anyOf: either },
      },
    };
    const most = JSON.stringify(largest(small)).length;
    const junk = fc.jsonValue({ maxDepth: 4 });
    const text = fc.string({ maxLength: 400 });
    const sent = fc.record(
      {
        name: fc.oneof(text, junk),
        list: fc.oneof(fc.array(fc.record({ n: fc.double(), s: text, junk }), { maxLength: 40 }), junk),
        either: fc.record({ a: fc.oneof(text, junk), b: text, c: junk }, { requiredKeys: [] }),
        junk,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(sent, (value) => {
        const { value: kept } = readJson(bytesOf(JSON.stringify(value)), small);
        assert.ok(JSON.stringify(kept).length <= 2 * most, JSON.stringify(kept));
      }),
    );
  });

  it("keeps a session's fields and nothing else, at any depth", () => {
    const junk = { x: Array.from({ length: 1_000 }, () => ({})) };
    const sent = {
      ...junk,
      instructions: "Be brief.",
      audio: {
        ...junk,
        input: {
          ...junk,
          format: { type: "audio/pcm", rate: 24_000, ...junk },
          turn_detection: { type: "server_vad", threshold: 0.4, ...junk },
          transcription: { language: "en", ...junk },
          noise_reduction: junk,
        },
      },
      tool_choice: { type: "function", name: "clock", ...junk },
    };
    assert.deepEqual(readJson(bytesOf(JSON.stringify(sent)), SessionUpdate).value, {
      instructions: "Be brief.",
      audio: {
        input: {
          format: { type: "audio/pcm", rate: 24_000 },
          turn_detection: { type: "server_vad", threshold: 0.4 },
          transcription: { language: "en" },
          noise_reduction: {},
        },
      },
      tool_choice: { type: "function", name: "clock" },
    });
  });

  it("keeps a free object as its text, within its length and depth", () => {
    const toolsOf = (json: string) => {
      const { value } = readJson(bytesOf(`{"tools":[{"parameters":${json}}]}`), SessionUpdate);
      return (value as { tools: { parameters: JsonText }[] }).tools;
    };
    const tools = toolsOf('{"a": [1, {"b": "c"}]}');
    assert.ok(tools[0]!.parameters instanceof JsonText);
    assert.equal(JSON.stringify(tools), '[{"parameters":{"a":[1,{"b":"c"}]}}]');
    const deep = `{"a":${"[".repeat(66)}${"]".repeat(66)}}`;
    assert.throws(() => toolsOf(deep), { message: "tools[0].parameters is nested more than 64 deep" });
    assert.throws(() => toolsOf(`{"a":"${"x".repeat(600_001)}"}`), /has more than 600000 bytes/);
  });

  it("drops null for optional members that are not nullable, if asked", () => {
    const transcription = '{"model":"whisper-1","language":null}';
    const sent = `{"audio":{"input":{"transcription":${transcription}}},"instructions":null}`;
    const read = (isNullAbsent: boolean) => readJson(bytesOf(sent), SessionUpdate, { isNullAbsent }).value;
    const input = { transcription: { model: "whisper-1" } };
    assert.deepEqual(read(true), { audio: { input }, instructions: null });
    assert.deepEqual(read(false), JSON.parse(sent));
    const twice = readJson(bytesOf('{"model":"a","model":null}'), SessionUpdate, { isNullAbsent: true });
    assert.deepEqual(twice.value, {});
  });

  it("readSettingsJson keeps everything, within a length and a depth", () => {
    assert.deepEqual(readSettingsJson('{"a":[{}]}'), { a: [{}] });
    const long = `"${"a".repeat(2 ** 20)}"`;
    assert.throws(() => readSettingsJson(long), /^JsonBoundError: it has more than 1048576/);
    assert.throws(() => readSettingsJson("[".repeat(66) + "]".repeat(66)), /nested more than 64 deep/);
    assert.throws(() => readSettingsJson("{"), SyntaxError);
  });
});
