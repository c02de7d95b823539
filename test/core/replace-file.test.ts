import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { link } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Journal, type Progress } from "../../src/cli/book/journal.ts";
import { PartialFile } from "../../src/cli/book/partial-file.ts";
import { writeOutput } from "../../src/cli/terminal/command-io.ts";
import { openForResume, openNew, replaceFile, writeJson } from "../../src/core/replace-file.ts";
import { PartFile as PulledPart } from "../../src/models/download/part-file.ts";
import { reportSharing } from "../../src/server/report-sharing.ts";
import { sourceFiles } from "../architecture/read-imports.ts";
import { TOP } from "../architecture/top.ts";
import { temporaryFolder } from "../e2e/folders.ts";
import { until } from "../waiting.ts";

const PROGRESS: Progress = {
  passages: 1,
  textHash: "hash",
  readChars: 1,
  samplesBefore: 0,
  files: 0,
  samples: 0,
  bytes: 6,
  captionBytes: 0,
  cues: 0,
  chapters: [],
  isSpoken: false,
  options: {},
};

/** Returns a folder with links to another file. */
function withLinks(...names: string[]) {
  const folder = temporaryFolder();
  const other = join(temporaryFolder(), "other");
  writeFileSync(other, "others' content");
  for (const name of names) symlinkSync(other, join(folder, name));
  return {
    folder,
    isLink: (name: string) => lstatSync(join(folder, name)).isSymbolicLink(),
    requireUntouched: () => assert.equal(readFileSync(other, "utf8"), "others' content"),
  };
}

describe("a written file", () => {
  it("replaces a link, not its target", async () => {
    const { folder, isLink, requireUntouched } = withLinks("a", "b", "c", "d");
    await replaceFile(join(folder, "a"), "own");
    await openNew(join(folder, "b")).then((file) => file.close());
    await openForResume(join(folder, "c")).then((file) => file.close());
    await writeOutput(join(folder, "d"), "own", "-o");
    requireUntouched();
    for (const name of ["a", "b", "c", "d"]) assert.equal(isLink(name), false, name);
    assert.equal(readFileSync(join(folder, "a"), "utf8"), "own");
    assert.deepEqual(readdirSync(folder), ["a", "b", "c", "d"]);
  });

  it("is continued if it exists", async () => {
    const path = join(temporaryFolder(), "a");
    writeFileSync(path, "begun");
    const file = await openForResume(path);
    assert.equal(await file.readFile("utf8"), "begun");
    await file.close();
  });

  it("is no link for long speech and pulled models", async () => {
    const names = ["b.mp3.part.pid", "b.mp3.part.json", "b.mp3.part.json.new", "b.mp3.part", "model.part"];
    const { folder, isLink, requireUntouched } = withLinks(...names);
    const journal = new Journal(join(folder, "b.mp3"));
    await journal.claim();
    await journal.keep(PROGRESS);
    const part = await PartialFile.open(join(folder, "b.mp3"));
    await part.write(Buffer.from("speech"));
    await part.leave();
    const pulled = await PulledPart.open(
      join(folder, "model"),
      { sizeBytes: 9, sha256: "0".repeat(64) },
      new AbortController().signal,
    );
    await pulled.append(Buffer.from("half"));
    await pulled.close();
    requireUntouched();
    for (const name of names.filter((each) => existsSync(join(folder, each))))
      assert.equal(isLink(name), false, name);
  });

  it("is no link for resumed speech", async () => {
    const { folder, requireUntouched } = withLinks("b.mp3.part");
    await assert.rejects(PartialFile.open(join(folder, "b.mp3"), 6), { code: "ELOOP" });
    requireUntouched();
  });

  it("is no link for a server's lock", async () => {
    const { folder, isLink, requireUntouched } = withLinks("server.running");
    const stop = new AbortController();
    const look = { dataDir: folder, signal: stop.signal, note: () => {}, beatMs: 1 };
    const warning = reportSharing(look);
    await until("its file", () => !isLink("server.running"));
    stop.abort();
    await warning;
    requireUntouched();
  });
});

describe("every file of the program", () => {
  it("is created, and never opened through a link", () => {
    const following = sourceFiles(TOP, "src").flatMap((file) =>
      readFileSync(join(TOP, file), "utf8")
        .split("\n")
        .filter(
          (line) =>
            /(?<![.\w])(?:open(?:Sync)?\(.*"(?:w|a|r\+)\+?"|(?:append|copy)File(?:Sync)?\(|createWriteStream\()/.test(
              line,
            ) ||
            (/(?<![.\w])writeFile(?:Sync)?\(/.test(line) && !/flag: /.test(line)),
        )
        .map((line) => `${file}: ${line.trim()}`),
    );
    assert.deepEqual(following, []);
  });
});

describe("written JSON", () => {
  it("is indented, replaces the file, and leaves no draft", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.json");
    await writeJson(path, { a: 0 });
    await writeJson(path, { a: 1 });
    assert.equal(readFileSync(path, "utf8"), '{\n  "a": 1\n}\n');
    assert.deepEqual(readdirSync(folder), ["a.json"]);
  });

  it("leaves nothing behind on failure", async () => {
    const folder = temporaryFolder();
    await assert.rejects(writeJson(join(folder, "none", "a.json"), {}), { code: "ENOENT" });
    mkdirSync(join(folder, "a.json"));
    await assert.rejects(writeJson(join(folder, "a.json"), {}));
    assert.deepEqual(readdirSync(folder), ["a.json"]);
  });

  it("never replaces a file when it is linked", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.json");
    await writeJson(path, 1, link);
    await assert.rejects(writeJson(path, 2, link), { code: "EEXIST" });
    assert.deepEqual([readFileSync(path, "utf8"), readdirSync(folder)], ["1\n", ["a.json"]]);
  });
});
