import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sourceFiles } from "../architecture/read-imports.ts";
import { TOP } from "../architecture/top.ts";

const page = readFileSync(join(TOP, "docs/architecture.md"), "utf8");
const diagrams = [...page.matchAll(/^```mermaid\nsequenceDiagram\n([\s\S]*?)^```$/gm)].map(
  ([, diagram = ""]) => diagram,
);

test("every name in the architecture page's diagrams is in the source", () => {
  const known = new Set(
    sourceFiles(TOP, "src").flatMap((file) => readFileSync(join(TOP, file), "utf8").match(/\w+/g) ?? []),
  );
  const named = diagrams.flatMap(
    (diagram) => diagram.match(/\b(?:[a-z]+|[A-Z][a-z]+)[A-Z]\w+|\b\w+\.[a-z]\w+/g) ?? [],
  );
  assert.ok(named.length > 50, `${named.length} names`);
  assert.deepEqual(
    named.filter((name) => !name.split(".").every((part) => known.has(part))),
    [],
  );
});

test("no Mermaid line has a semicolon", () => {
  assert.deepEqual(
    diagrams.flatMap((diagram) => diagram.split("\n").filter((line) => line.includes(";"))),
    [],
  );
});
