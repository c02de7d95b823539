import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { launch } from "../children.ts";
import { TOP, temporaryFolder } from "../e2e/folders.ts";
import { finished, newcomersEnvironment } from "../e2e/program.ts";
import { type ServerProcess, startServerProcess } from "../e2e/server-process.ts";
import { assertSpeech } from "../e2e/speech.ts";
import { TranscriptionServer } from "../recognition/transcription-server.ts";
import { until, within } from "../waiting.ts";
import { ChatServer } from "../writers/chat/chat-server.ts";

const readme = readFileSync(join(TOP, "README.md"), "utf8");
const guides = /^\*\*Guides:\*\*[\s\S]*?\n\n/m.exec(readme)?.[0].match(/docs\/[\w-]+\.md/g) ?? [];

/** The blocks of code of a page, each with its mark: `not run: why`, `file: name to save it as`, `from: file it quotes`. */
function blocksOf(page: string) {
  const block =
    /^(?:<!-- (not run|file|from): (.+) -->\n)?```(sh|console|js|ts|python|md)\n([\s\S]*?)^```$/gm;
  return [...readFileSync(join(TOP, page), "utf8").matchAll(block)].map(
    ([, mark, what = "", language = "", code = ""]) => ({ language, code, mark, what }),
  );
}

/** Makes `antiphon` and `npx antiphon` the built program. */
const PRELUDE = `set -eo pipefail
antiphon() { "${process.execPath}" "${join(TOP, "dist/src/cli/main.js")}" "$@"; }
npx() { "$@"; }
`;

const SCRIPT = "# One\n\nAnna: Did you hear that?\nBen: Hear what?\n";
const RECORDING = readFileSync(join(TOP, "docs/samples/plain-line.mp3"));
const HEARD = "Milk first, or last? Nobody agrees.";
let server: ServerProcess;
let writer: ChatServer;
let recogniser: TranscriptionServer;
let env: Record<string, string>;

before(async () => {
  // The commands need no real model, and the real ones would have to be downloaded.
  writer = await ChatServer.open();
  recogniser = await TranscriptionServer.open();
  recogniser.answers(({ response }) =>
    response.end(JSON.stringify({ text: HEARD, segments: [{ text: HEARD, start: 0.1, end: 2.2 }] })),
  );
  const settings = {
    ANTIPHON_WRITER_KIND: "chat",
    ANTIPHON_WRITER_BASE_URL: writer.baseUrl,
    ANTIPHON_WRITER_MODEL: "some-model",
    ANTIPHON_WRITER_GATE: "false",
    ANTIPHON_RECOGNISER_KIND: "endpoint",
    ANTIPHON_RECOGNISER_BASE_URL: recogniser.baseUrl,
    ANTIPHON_RECOGNISER_MODEL: "some-whisper",
  };
  server = await startServerProcess({ env: settings });
  const { url: BASE_URL, key: ANTIPHON_KEY, dataDir: ANTIPHON_DATA_DIR } = server;
  env = { ...newcomersEnvironment(), ...settings, ANTIPHON_DATA_DIR, ANTIPHON_KEY, BASE_URL };
});
after(async () => {
  await server?.stop();
  await writer?.close();
  await recogniser?.close();
});

/** Runs a command in a folder, with this test's server and key. Returns its output. */
async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const child = launch(command, args, { cwd, env });
  const { code, stdout, stderr } = await within(args.at(-1)!, finished(child), { deadlineMs: 120_000 });
  assert.equal(code, 0, stderr);
  // With -s, curl does not report a status, but the body of an error shows it.
  assert.doesNotMatch(stdout, /"error":/);
  return stdout;
}

const here = (code: string) =>
  code.replaceAll("http://127.0.0.1:8080", server.url).replaceAll("ant_...", server.key);

test("README.md links to the guides", () => assert.ok(guides.length >= 11, `${guides.length} guides`));

for (const page of ["README.md", ...guides]) {
  describe(page, () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(TOP, join(folder, "node_modules/antiphon"));

    for (const { language, code, mark, what } of blocksOf(page)) {
      if (mark === "not run") continue;
      const title = mark === "from" ? `quotes ${what}` : `runs ${what || code.split("\n")[0]}`;
      test(title, async () => {
        if (mark === "from") return assert.ok(readFileSync(join(TOP, what), "utf8").includes(code));
        if (mark === "file") writeFileSync(join(folder, what), here(code));
        else assert.equal(language, "sh", "only sh runs: mark the block with file, from or not run");
        if (mark === undefined) await assertRuns(code, folder);
        else if (language === "js") assert.notEqual(await run(process.execPath, [what], folder), "");
      });
    }
  });
}

/** Runs the commands of a block, after making the files that a reader has. */
async function assertRuns(code: string, folder: string): Promise<void> {
  for (const [, name] of code.matchAll(/(?:@|-f |--voice-like |transcribe )([\w-]+\.\w+)/g)) {
    const file = join(folder, name!);
    if (!existsSync(file)) writeFileSync(file, /\.(?:md|txt)$/.test(file) ? SCRIPT : RECORDING);
  }
  const said = await run("bash", ["-c", PRELUDE + here(code)], folder);
  for (const [, name] of code.matchAll(/(?:-o|--captions|>) ([\w.-]+\.\w+)/g)) assertFile(folder, name!);
  if (code.includes("/audio/trans")) assert.ok(said.includes(HEARD), said);
  if (code.includes("/stream")) assert.match(said, /^event: end$/m);
  if (code.includes("/v1/usage")) assert.match(said, /"requests":[1-9]/);
}

function assertFile(folder: string, name: string): void {
  const bytes = readFileSync(join(folder, name));
  assert.ok(bytes.length > (/\.(?:mp3|raw)$/.test(name) ? 8_000 : 20), `${name} has ${bytes.length} bytes`);
  if (name.endsWith(".wav")) assertSpeech(bytes);
  if (name.endsWith(".mp3")) assert.ok(bytes.readUInt16BE() >> 5 === 0x7ff, `${name} is no MP3`);
}

test("examples/agent.mjs calls a function for a spoken question, and speaks the answer", async () => {
  const cwd = temporaryFolder();
  await run("bash", ["-c", `${PRELUDE}antiphon say "How is it in Rome?" -o turn.wav`], cwd);
  const programs = { rec: "cat turn.wav /dev/zero | head -c 480000", play: "exec wc -c" };
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(cwd, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const call = { index: 0, id: "call_0", function: { name: "weather", arguments: '{"town":"Rome"}' } };
  const calling = { choices: [{ index: 0, delta: { tool_calls: [call] } }] };
  writer.next(
    (chat) => chat.begin().send(calling).finish("tool_calls"),
    (chat) => chat.begin().say(chat.body.messages.at(-1)!.content).finish(),
  );
  const options = { cwd, env: { ...env, PATH: `${cwd}:${process.env.PATH}` } };
  const agent = launch(process.execPath, [join(TOP, "examples/agent.mjs")], options);
  let said = "";
  agent.stdout!.on("data", (text) => (said += text));
  await until("the answer", () => said.startsWith(`user: ${HEARD}\n`) && /^assistant: .*clear/m.test(said));
  agent.kill();
});
