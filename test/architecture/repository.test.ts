import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { test } from "node:test";
import { TOP } from "./top.ts";

const files = repositoryFiles();

test("the lock file records no download addresses", () => {
  const lock = readFileSync(join(TOP, "package-lock.json"), "utf8");
  assert.doesNotMatch(lock, /"resolved":\s*"https?:/);
});

test("the lock file fixes every package by its checksum", () => {
  const { packages } = JSON.parse(readFileSync(join(TOP, "package-lock.json"), "utf8"));
  const unfixed = Object.entries<{ integrity?: string; link?: boolean }>(packages)
    .filter(([path, entry]) => path !== "" && entry.link !== true && entry.integrity === undefined)
    .map(([path]) => path);
  assert.deepEqual(unfixed, []);
});

test("every package that is installed by name has its licence in THIRD_PARTY.md", () => {
  const manifest = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8"));
  const { dependencies, devDependencies, peerDependencies } = manifest;
  const thirdParty = readFileSync(join(TOP, "THIRD_PARTY.md"), "utf8");
  const unnamed = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }).filter(
    (name) => !thirdParty.includes(name),
  );
  assert.deepEqual(unnamed, []);
});

/** Folders of one machine or one account; temporary ones are for code that asks the system where they are. */
const MACHINE_PATH =
  /(?:^|[\s"'`(=:,[])(\/(?:work|farm|root|tmp|home\/\w+|Users\/\w+)(?:\/[\w.-]+)*)(?=[\s"'`),:;\]/]|$)/;

test("no file names a path of one machine", () => {
  const named = textFiles().flatMap((file) =>
    readFileSync(join(TOP, file), "utf8")
      .split("\n")
      .flatMap((line, index) => {
        const path = MACHINE_PATH.exec(line)?.[1];
        return path === undefined ? [] : [`${file}:${index + 1} names ${path}`];
      }),
  );
  assert.deepEqual(named, []);
});

test("a path of one machine is recognised, and what only looks like one is not", () => {
  for (const line of ["see /ro" + "ot/x", 'cd "/ho' + 'me/ann/a"', "/tm" + "p", "(/wor" + "k/main)"]) {
    assert.match(line, MACHINE_PATH);
  }
  for (const line of [
    "https://example.org/home/ann",
    "GET /v1/work",
    "src/tmp/x",
    "and/or",
    "/homework",
    "/tmpfs",
  ]) {
    assert.doesNotMatch(line, MACHINE_PATH);
  }
});

const voices = readdirSync(join(TOP, "voices"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => `voices/${entry.name}`);

for (const voice of voices) {
  test(`${voice} has its licence and notice, and a line in THIRD_PARTY.md`, () => {
    for (const name of ["LICENSE", "NOTICE"])
      assert.ok(files.includes(`${voice}/${name}`), `${voice}/${name}`);
    assert.ok(
      readFileSync(join(TOP, "THIRD_PARTY.md"), "utf8").includes(voice),
      `${voice} in THIRD_PARTY.md`,
    );
  });

  test(`${voice} is byte for byte what its checksums say`, () => {
    for (const sums of files.filter(
      (file) => file.startsWith(`${voice}/`) && basename(file) === "SHA256SUMS",
    )) {
      const folder = posix.dirname(sums);
      const expected = readSums(sums);
      for (const [name, sum] of expected) {
        const file = posix.join(folder, name);
        if (existsSync(join(TOP, file))) assert.equal(sha256(file), sum, file);
        else
          assert.ok(
            isExplained(voice, name),
            `${file} is in SHA256SUMS, but neither there nor explained in a README`,
          );
      }
      const unlisted = files
        .filter((file) => posix.dirname(file) === folder && !/^SHA256SUMS$|\.(?:md|py)$/.test(basename(file)))
        .filter((file) => !expected.has(basename(file)));
      assert.deepEqual(unlisted, []);
    }
    assert.ok(existsSync(join(TOP, voice, "SHA256SUMS")));
  });
}

/** What is committed; in an unpacked archive, what lies there but for what is installed or built. */
function repositoryFiles(): string[] {
  return (committedFiles() ?? everyFile()).filter((file) => existsSync(join(TOP, file)));
}

function committedFiles(): string[] | null {
  if (!existsSync(join(TOP, ".git"))) return null;
  const git = spawnSync("git", ["ls-files", "-z"], { cwd: TOP, encoding: "utf8" });
  return git.status === 0 ? git.stdout.split("\0").filter((file) => file !== "") : null;
}

function everyFile(): string[] {
  return readdirSync(TOP, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(TOP, posix.join(entry.parentPath, entry.name)))
    .filter((file) => !/^(\.git|node_modules|dist|shared|bench\/\.cache)\//.test(file));
}

function textFiles(): string[] {
  return files
    .filter((file) => file !== "package-lock.json" && statSync(join(TOP, file)).size < 5_000_000)
    .filter((file) => !readFileSync(join(TOP, file)).subarray(0, 8_000).includes(0));
}

function readSums(file: string): Map<string, string> {
  const lines = readFileSync(join(TOP, file), "utf8").trim().split("\n");
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

function sha256(file: string): string {
  return createHash("sha256")
    .update(readFileSync(join(TOP, file)))
    .digest("hex");
}

function isExplained(voice: string, name: string): boolean {
  return files
    .filter((file) => file.startsWith(`${voice}/`) && basename(file) === "README.md")
    .some((file) => readFileSync(join(TOP, file), "utf8").includes(name));
}
