import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { clientOf } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const params = { temperature: 0 };
const folder = temporaryFolder();

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe("a user lexicon", () => {
  const env = { ANTIPHON_LEXICON: file("words.tsv", "# mine\nzgrmf\tboat\nqlorb\t/bˈOt/\n") };
  let server: ServerProcess;
  before(async () => {
    server = await startServerProcess({ env });
  });
  after(() => server.stop());

  it("applies to the server's speech, from its file and a request", async () => {
    const client = clientOf(server.url, server.key);
    const length = async (text: string, lexicon: Record<string, string> = {}) =>
      (await client.tts({ text, params, lexicon })).length;
    const boat = await length("The boat is here.");
    assert.equal(await length("The zgrmf is here."), boat);
    assert.equal(await length("The qlorb is here."), boat);
    assert.equal(await length("The [ship](/bˈOt/) is here."), boat);
    assert.equal(await length("The ship is here.", { ship: "/bˈoʊt/" }), boat);
    assert.equal(
      await length("The zgrmf is here.", { zgrmf: "extraordinary boat" }),
      await length("The extraordinary boat is here."),
    );
    assert.notEqual(await length("The extraordinary boat is here."), boat);
  });

  it("gives the same bytes from the server and from say", async () => {
    const client = clientOf(server.url, server.key);
    const text = "The zgrmf and the qlorb met [Xu](/ʃˈu/).";
    const served = await client.tts({ text, params });
    const said = await runAntiphon(["say", text, "--params", JSON.stringify(params)], { env });
    assert.deepEqual([said.code, said.stderr], [0, ""]);
    assert.ok(served.equals(said.bytes.subarray(44)));
  });

  it("applies to antiphon phonemes", async () => {
    const { code, stdout } = await runAntiphon(["phonemes", "A zgrmf, a qlorb's and an [x](/ˈæks/)."], {
      env,
    });
    assert.deepEqual([code, stdout], [0, "ɐ bˈOt, ɐ bˈOts ænd ɐn ˈæks.\n"]);
  });
});

describe("an invalid lexicon", () => {
  for (const [what, line, text, message, exit] of [
    ["a line without a tab", ["phonemes", "Hi."], "a\tb\nfoo /fˈu/\n", /^The lexicon .*bad\.tsv, line 2/, 2],
    ["no phonemes", ["say", "Hi."], "foo\t/f9/\n", /^The lexicon .*bad\.tsv, line 1: character 3 of what/, 2],
    [
      "another kind of lexicon, for the server",
      ["serve", "--port", "0"],
      '<?xml version="1.0"?>\n<lexicon/>\n',
      /^The lexicon .*bad\.tsv is a PLS \(XML\) lexicon, which is not read: write a word/,
      2,
    ],
    ["no file", ["phonemes", "Hi."], null, /^The lexicon .*bad\.tsv cannot be read \(ENOENT\)/, 1],
    ["no file, for the server", ["serve", "--port", "0"], null, /^The lexicon .*bad\.tsv cannot be read/, 1],
  ] as const) {
    it(`is refused before any speech: ${what}`, async () => {
      const path = text === null ? join(folder, "none", "bad.tsv") : file("bad.tsv", text);
      const { code, stdout, stderr } = await runAntiphon([...line], { env: { ANTIPHON_LEXICON: path } });
      assert.deepEqual([code, stdout.length], [exit, 0], stderr);
      assert.match(stderr, message);
      assert.match(stderr, /^[^\n]+\.\n$/, "one sentence");
    });
  }

  it("in a text is refused with the place", async () => {
    for (const command of ["phonemes", "say"]) {
      const { code, stderr } = await runAntiphon([command, "[x](/ˈ9/)"]);
      assert.equal(code, 2);
      assert.match(stderr, /: text: character 7 \("9"\) is not a phoneme: write phonemes as /);
    }
  });

  it("is not needed to refuse a text with nothing speakable", async () => {
    for (const [text, why] of [
      ["🙂", /^This cannot be (?:read|said): text has nothing speakable: it needs at least one letter or/],
      ["你好", /(?:^|\n)This cannot be (?:read|said): the text holds nothing that this voice can pronounce:/],
    ] as const) {
      for (const command of ["phonemes", "say"]) {
        const { code, stdout, stderr } = await runAntiphon([command, text]);
        assert.deepEqual([code, stdout.length], [2, 0], stderr);
        assert.match(stderr, why);
      }
    }
  });
});
