import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openApiDocument } from "../../src/api/http/openapi/openapi-document.ts";
import { TOP } from "../architecture/top.ts";

const documented = Object.keys((openApiDocument() as { paths: object }).paths);

test("every path of the API is in /openapi.json", () => {
  const folder = join(TOP, "src/api/http/routes");
  const paths = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(/"(\/v1\/[^"]+)"/g)].map(([, path = ""]) =>
      path.replaceAll(/:(\w+)/g, "{$1}"),
    ),
  );
  assert.ok(paths.length >= 12, `${paths.length} paths`);
  assert.deepEqual(
    paths.filter((path) => !documented.includes(path)),
    [],
  );
});

test("every path in /openapi.json is in README.md", () => {
  const readme = readFileSync(join(TOP, "README.md"), "utf8");
  const [, table = ""] = readme.split("\n## What it serves\n");
  const named = [...table.split("\n## ")[0]!.matchAll(/[` ](\/[^`\s,]*)/g)].map(([, path]) => path);
  assert.deepEqual(
    documented.filter((path) => !named.includes(path)),
    [],
  );
});
