import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { sourceFiles } from "./read-imports.ts";
import { TOP } from "./top.ts";

/** The lines of `src` that match, but for comments, as `file: line`. */
function linesWith(pattern: RegExp): string[] {
  return sourceFiles(TOP, "src").flatMap((file) =>
    readFileSync(join(TOP, file), "utf8")
      .split("\n")
      .filter((line) => pattern.test(line) && !/^\s*(?:\/\/|\/?\*)/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
}

describe("what is printed", () => {
  it("goes through the safe screens that runProgram makes", () => {
    const files = linesWith(/\bprocess\.std(?:out|err)\b|\bconsole\.|stdio: ?"inherit"/).map(
      (line) => line.split(":")[0],
    );
    // The start of the program, before anything can be printed, and a script of the build.
    const allowed = ["src/cli/main.ts", "src/text/tables/build-tables.ts"];
    assert.deepEqual([...new Set(files)], allowed);
    assert.equal(linesWith(/\bsafeScreen\(given\.std(?:out|err)\)/).length, 2);
  });

  it("drives a terminal by sequences of our own alone, which hold no text", () => {
    const raw = linesWith(/\.raw\b.*\.write\(/);
    assert.ok(raw.length > 0);
    for (const line of raw) assert.match(line, /\.write\("(?:[^"$]*)"\);$/, line);
    for (const line of linesWith(/\\u001b|\\x1b/i)) assert.match(line, /\.raw\b/, line);
  });
});
