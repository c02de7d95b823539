import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TOP } from "../architecture/top.ts";

/** What docs/extending.md has its readers write themselves. */
const EXAMPLES = /(?:^|\/)(?:beep|engines\/beep)/;

test("every source file that a page names exists", () => {
  const files = ["src", "test", "bench", "scripts", "training", "playground"].flatMap((folder) =>
    readdirSync(join(TOP, folder), { recursive: true, encoding: "utf8" }).map(
      (name) => `/${folder}/${name.replaceAll("\\", "/")}`,
    ),
  );
  const pages = readdirSync(join(TOP, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.startsWith("history"))
    .map((name) => join("docs", name));
  const gone = [...pages, "README.md", "CONTRIBUTING.md"].flatMap((page) =>
    [...readFileSync(join(TOP, page), "utf8").matchAll(/`([\w./-]+\.ts)`/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !EXAMPLES.test(name) && !files.some((file) => file.endsWith(`/${name}`)))
      .map((name) => `${page} names ${name}`),
  );
  assert.deepEqual(gone, []);
});
