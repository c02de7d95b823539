import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { launch } from "../children.ts";
import { TOP, temporaryFolder } from "../e2e/folders.ts";
import { finished, newcomersEnvironment } from "../e2e/program.ts";
import { type ServerProcess, startServerProcess } from "../e2e/server-process.ts";
import { assertSpeech } from "../e2e/speech.ts";
import { TranscriptionServer } from "../recognition/transcription-server.ts";
import { within } from "../waiting.ts";
import { ChatServer } from "../writers/chat/chat-server.ts";

/** A fenced block, and what the comment right before it says of it: `not run: why`, or `file: what it is saved as`. */
interface Block {
  readonly language: string;
  readonly code: string;
  readonly notRun: boolean;
  readonly file: string | null;
}

const readme = readFileSync(join(TOP, "README.md"), "utf8");
const blocks: readonly Block[] = [
  ...readme.matchAll(/^(?:<!-- (not run|file): (.+) -->\n)?```(\w+)\n([\s\S]*?)^```$/gm),
].map(([, remark, what = "", language = "", code = ""]) => ({
  language,
  code,
  notRun: remark === "not run",
  file: remark === "file" ? what : null,
}));
const typed = blocks.filter(({ language, notRun }) => language === "sh" && !notRun);

/** What stands for the command that `npm` installs or finds in the checkout. */
const PRELUDE = `set -eo pipefail
antiphon() { "${process.execPath}" "${join(TOP, "dist/src/cli/main.js")}" "$@"; }
npx() { "$@"; }
`;

const HEARD = "Milk first, or last? Nobody agrees.";
const folder = temporaryFolder();
let server: ServerProcess;
let writer: ChatServer;
let recogniser: TranscriptionServer;
let env: Record<string, string>;

before(async () => {
  // Neither of the models is needed to know that a command is right, and both would have to be fetched.
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
  env = {
    ...newcomersEnvironment(),
    ...settings,
    ANTIPHON_DATA_DIR: server.dataDir,
    ANTIPHON_KEY: server.key,
  };
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(TOP, join(folder, "node_modules/antiphon"));
});
after(async () => {
  await server?.stop();
  await writer?.close();
  await recogniser?.close();
});

/** Runs what README.md says, with this test's server and key in place of the reader's. */
async function typedIn(command: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await within(
    args.at(-1)!,
    finished(launch(command, args, { cwd: folder, env })),
    { deadlineMs: 120_000 },
  );
  assert.deepEqual([code, stderr], [0, ""]);
  // With -s, curl says nothing of a status: the envelope of errors tells.
  assert.doesNotMatch(stdout, /"error":/);
  return stdout;
}

const here = (code: string) =>
  code.replaceAll("http://127.0.0.1:8080", server.url).replaceAll("ANTIPHON_KEY=ant_...", "ANTIPHON_KEY");

test("README.md has commands, most of which are run here", () => {
  assert.ok(typed.length >= 8, `${typed.length} blocks`);
  assert.ok(blocks.filter(({ notRun }) => notRun).length <= 3);
});

for (const { code } of typed) {
  test(`README.md: ${code.split("\n")[0]}`, async () => {
    const before = new Set(readdirSync(folder));
    const said = await typedIn("bash", ["-c", PRELUDE + here(code)]);
    const made = readdirSync(folder).filter((name) => !before.has(name));
    const named = [...code.matchAll(/(?:-o|--captions|>) ([\w.]+\.\w+)/g)].map(([, name]) => name!);
    assert.deepEqual([...new Set(named)].filter((name) => !before.has(name)).sort(), made.sort());
    for (const name of named) assertFile(name);
    if (code.includes("/stream")) assert.match(said, /^event: end$/m);
    if (/transcri/.test(code)) assert.ok(said.includes(HEARD), said);
    if (code.includes("/v1/usage")) assert.match(said, /"requests":[1-9]/);
  });
}

for (const { code, file } of blocks.filter((block) => block.file !== null)) {
  test(`README.md: node ${file}`, async () => {
    assert.ok(readme.includes(`\`node ${file}\``), `the page says to run ${file}`);
    writeFileSync(join(folder, file!), here(code));
    assert.match(await typedIn(process.execPath, [file!]), /\d s: The kettle is on\.\n$/);
  });
}

function assertFile(name: string): void {
  const bytes = readFileSync(join(folder, name));
  const check: Record<string, () => void> = {
    ".wav": () => assertSpeech(bytes),
    ".mp3": () => assert.ok(bytes.length > 8_000 && bytes.readUInt16BE() >> 5 === 0x7ff, `${name} is no MP3`),
    ".vtt": () => assert.match(bytes.toString(), /^WEBVTT\n\n00:00:0/),
    ".key": () => assert.match(bytes.toString(), /^ant_\w{38}\n$/),
  };
  (check[extname(name)] ?? (() => assert.fail(`nothing is known of ${name}`)))();
}
