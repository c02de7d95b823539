import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { decodeWav } from "../../src/audio/decode-wav.ts";
import { encodeWav } from "../../src/client/samples.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import { TOP } from "../architecture/top.ts";
import { launch } from "../children.ts";
import { finished, newcomersEnvironment } from "../e2e/program.ts";
import { within } from "../waiting.ts";
import { ScriptedWriter } from "../writers/scripted-writer.ts";

interface Body {
  readonly conversation: readonly { speaker: string; text?: string; audio_wav_b64?: string }[];
  readonly model?: string;
  readonly params?: object;
}
interface Code {
  KINDS: Readonly<Record<string, unknown>>;
  codeFor(kind: string, origin: string, body: Body): string;
}

const { KINDS, codeFor }: Code = await import(pathToFileURL(join(TOP, "playground/code.js")).href);

const NASTY = `It's "quoted", $HOME, \`date\`, $(date), back\\slash \\n, a\nnew line, </script>, \u2028 and 🎉`;
const BODIES: Readonly<Record<string, Body>> = {
  "given words": {
    conversation: [
      { speaker: "0", text: NASTY },
      { speaker: "1", text: `${NASTY}.` },
    ],
    model: "svc-beta-v0.2",
    params: { temperature: 0, acoustic_temperature: 0.25, audio_quality: "low" },
  },
  "words to be written": { conversation: [{ speaker: "0", text: "Well?" }, { speaker: "1" }] },
  "an earlier turn's sound": {
    conversation: [
      { speaker: "0", text: NASTY, audio_wav_b64: `it's "mine".wav` },
      { speaker: "1", text: "Yes." },
    ],
  },
};

const has = (program: string) =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
const needs = (program: string) => ({ skip: !has(program) && `there is no ${program} on this machine` });

let server: TestServer;
let folder: string;
before(async () => {
  server = await startTestServer({ writer: new ScriptedWriter(["It was wonderful."]) });
  folder = mkdtempSync(join(tmpdir(), "antiphon-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(TOP, join(folder, "node_modules/antiphon"));
  writeFileSync(join(folder, `it's "mine".wav`), encodeWav([new Int16Array(24_000)]));
});
after(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

/** Runs a program in the folder with the key in its environment. */
async function run(command: string, args: readonly string[]) {
  const env = { ...newcomersEnvironment(), ANTIPHON_KEY: server.key };
  const child = launch(command, args, { cwd: folder, env });
  const { code, stdout, stderr } = await within(command, finished(child));
  assert.equal(code, 0, stderr);
  return stdout;
}

const RUNS: Readonly<Record<string, (code: string) => Promise<unknown>>> = {
  curl: (code) => run("bash", ["-euo", "pipefail", "-c", code]),
  Python: (code) => run("python3", ["-c", code]),
  Node: (code) => {
    writeFileSync(join(folder, "reply.mjs"), code);
    return run(process.execPath, ["reply.mjs"]);
  },
};
const NEEDED: Readonly<Record<string, string>> = { curl: "curl", Python: "python3", Node: "node" };

for (const [kind, runCode] of Object.entries(RUNS)) {
  describe(`the code for ${kind}`, needs(NEEDED[kind]!), () => {
    for (const [what, body] of Object.entries(BODIES)) {
      test(`speaks into reply.wav with ${what}`, async () => {
        const reply = join(folder, "reply.wav");
        rmSync(reply, { force: true });
        const used = async () => (await server.get("/v1/usage")).json();
        const before = await used();
        await runCode(codeFor(kind, server.url, body));
        const after = await used();
        const more = (name: string) => Math.round(1_000 * (after[name] - before[name])) / 1_000;
        const chars = body.conversation.reduce((sum, { text = "" }) => sum + Array.from(text).length, 0);
        assert.equal(more("input_chars"), chars, "it says what it is told");
        const isHeard = body.conversation.some((turn) => turn.audio_wav_b64);
        assert.equal(more("input_audio_seconds"), isHeard ? 1 : 0);
        const { samples, sampleRateHz } = decodeWav(readFileSync(reply));
        assert.equal(sampleRateHz, 24_000);
        assert.equal(samples.length / sampleRateHz, more("output_audio_seconds"));
      });
    }
  });
}

test("curl sends the same body as the page, with any text", async () => {
  // A shell function replaces curl and prints the body.
  const curl =
    'curl() { for last; do :; done; if [ "$last" = "@-" ]; then cat; else printf %s "$last"; fi | tee body.json; }';
  for (const [what, body] of Object.entries(BODIES)) {
    await run("bash", ["-c", `${curl}\n${codeFor("curl", server.url, body)}\ntrue`]);
    const sent = JSON.parse(readFileSync(join(folder, "body.json"), "utf8"));
    const conversation = body.conversation.map((turn) => {
      const file = turn.audio_wav_b64 && readFileSync(join(folder, turn.audio_wav_b64));
      return file ? { ...turn, audio_wav_b64: file.toString("base64") } : turn;
    });
    assert.deepEqual(sent, { ...body, conversation }, what);
  }
});

test("the Python programs parse", needs("python3"), async () => {
  const programs = ["Python", "Python, openai", "LiveKit"].flatMap((kind) =>
    Object.values(BODIES).map((body) => codeFor(kind, server.url, body)),
  );
  writeFileSync(join(folder, "programs.json"), JSON.stringify(programs));
  const parse = "import ast, json\nfor each in json.load(open('programs.json')): ast.parse(each)";
  await run("python3", ["-c", parse]);
});

test("the Open WebUI command parses in a shell", async () => {
  for (const body of Object.values(BODIES))
    await run("bash", ["-n", "-c", codeFor("Open WebUI", server.url, body)]);
});

test("the code for other programs has the server, the voice and the text", () => {
  const body = BODIES["given words"]!;
  const said = JSON.stringify(`${NASTY}.`);
  for (const kind of Object.keys(KINDS)) {
    const code = codeFor(kind, "http://speech.example:8080", body);
    assert.ok(code.includes("speech.example"), kind);
    if (!/curl|Open WebUI/.test(kind)) assert.ok(code.includes(said), kind);
    if (/openai|LiveKit|Open WebUI/.test(kind)) assert.match(code, /"?svc-beta-v0\.2"?/);
    if (kind !== "Home Assistant") assert.match(code, /ANTIPHON_KEY|in the environment/);
  }
});
