import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { TOP } from "../architecture/top.ts";

const { PAGES } = (await import(pathToFileURL(join(TOP, "scripts/docs.mjs")).href)) as {
  readonly PAGES: Readonly<Record<string, () => string>>;
};

for (const [page, text] of Object.entries(PAGES)) {
  test(`${page} is what scripts/docs.mjs generates`, () => {
    assert.equal(readFileSync(join(TOP, page), "utf8"), text());
  });
}
