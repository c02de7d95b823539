import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Script } from "../../../src/core/script.ts";
import { ACCEPTED } from "../../../src/text/phonemes/given-phonemes.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { toldTones } from "./told-tones.ts";

let server: TestServer;
const scripts: Script[] = [];
before(async () => {
  server = await startTestServer({ checkpoints: [toldTones(scripts)] });
});
after(() => server.stop());

const ROUTES: readonly (readonly [path: string, body: (text: string) => object])[] = [
  ["/v1/tts", (text) => ({ text })],
  ["/v1/converse", (text) => ({ conversation: [{ text }] })],
  ["/v1/converse/stream", (text) => ({ conversation: [{ text }] })],
  ["/v1/audio/speech", (input) => ({ model: "tts-1", input })],
];

async function refused(fields: object, status: number, message: string, text = "Hello."): Promise<void> {
  for (const [path, body] of ROUTES) {
    const reply = await server.post(path, { ...body(text), ...fields });
    assert.equal(reply.status, status, path);
    const { error } = await reply.json();
    assert.equal(error.type, "invalid_request");
    assert.match(error.message, new RegExp(message), path);
  }
}

describe("a request's own words", () => {
  it("go to the engine, from every route that speaks", async () => {
    for (const [path, body] of ROUTES) {
      const lexicon = { SQL: "sequel", kubernetes: "/kˌubɚnˈɛtiz/" };
      const reply = await server.post(path, { ...body("Hello."), lexicon });
      assert.equal(reply.status, 200, path);
      await reply.arrayBuffer();
      assert.deepEqual(scripts.at(-1)?.lexicon, Object.entries(lexicon), path);
    }
  });

  it("are nothing where there are none", async () => {
    for (const fields of [{}, { lexicon: {} }]) {
      await (await server.post("/v1/tts", { text: "Hello.", ...fields })).arrayBuffer();
      assert.equal(scripts.at(-1)?.lexicon, undefined);
    }
  });

  it("change the seed of temperature 0, and nothing else does that was not there before", async () => {
    const seed = async (fields: object) => {
      await (
        await server.post("/v1/tts", { text: "Hello.", params: { temperature: 0 }, ...fields })
      ).arrayBuffer();
      return scripts.at(-1)?.seed;
    };
    assert.equal(await seed({}), await seed({ lexicon: {} }));
    assert.notEqual(await seed({}), await seed({ lexicon: { a: "b" } }));
    assert.equal(await seed({ lexicon: { a: "b", c: "d" } }), await seed({ lexicon: { c: "d", a: "b" } }));
  });

  it("are held to their shape with 422, by name", async () => {
    for (const [path, body] of ROUTES) {
      const { status } = await server.post(path, { ...body("Hello."), lexicon: null });
      assert.equal(status, path === "/v1/audio/speech" ? 200 : 422, path);
    }
    await refused({ lexicon: ["a"] }, 422, "^lexicon must be an object");
    await refused({ lexicon: { a: 1 } }, 422, '^lexicon\\["a"\\] must be a string');
    await refused({ lexicon: { "a/b~": 1 } }, 422, '^lexicon\\["a/b~"\\] must be a string');
    await refused({ lexicon: { a: "" } }, 422, '^lexicon\\["a"\\] must have at least 1 character');
    await refused(
      { lexicon: { a: "x".repeat(201) } },
      422,
      '^lexicon\\["a"\\] must have at most 200 characters',
    );
    await refused(
      { lexicon: { ["x".repeat(65)]: "y" } },
      422,
      "^the name of a member of lexicon .* at most 64",
    );
    await refused(
      { lexicon: { ["x".repeat(5_000)]: "y" } },
      422,
      "^the name of a member of lexicon .* at most 64",
    );
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`w${index}`, "x"]));
    await refused({ lexicon: many }, 422, "^lexicon must have at most 100 members");
  });

  it("are held to their meaning with 400, by name and place", async () => {
    await refused(
      { lexicon: { a: "/fˈ9/" } },
      400,
      '^lexicon\\["a"\\]: character 4 of what is said \\("9"\\) is not a phoneme: write phonemes as ',
    );
    await refused({ lexicon: { a: "/fˈu" } }, 400, "begins with a slash and does not end with one");
    await refused({ lexicon: { "?": "x" } }, 400, '^lexicon\\["\\?"\\]: the word has no letter or digit');
    await refused({ lexicon: { a: "…" } }, 400, "what is said has no letter or digit");
  });
});

describe("the published shape of a lexicon", () => {
  it("has every sign that phonemes may be written with, and none that is refused", async () => {
    const { components } = await (await server.get("/openapi.json")).json();
    const { pattern } = components.schemas.TtsRequest.properties.lexicon.additionalProperties;
    const published = new RegExp(pattern, "u");
    for (const sign of ACCEPTED) assert.ok(published.test(`/u${sign}u/`), sign);
    for (const said of ["/c/", "/t\u0361s/", "/\u0329n/", "/ˈ/", "//", "/u"])
      assert.ok(!published.test(said), said);
  });
});

describe("phonemes in a text", () => {
  it("are refused with 400 and the place of the first that is none, in the field that they are in", async () => {
    const message =
      '^(text|input|conversation\\[0\\]\\.text): character 10 \\("9"\\) is not a phoneme: write phonemes as ';
    await refused({}, 400, message, "[Foo](/fˈ9/) it");
  });

  it("are no phonemes where they are an address", async () => {
    const reply = await server.post("/v1/tts", { text: "[Foo](/about/) [bar](https://a.example/) it" });
    assert.equal(reply.status, 200);
  });
});
