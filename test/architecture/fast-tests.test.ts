import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { builtTests, fastTests } from "./fast-tests.ts";
import { groupsOf } from "./groups.ts";
import { TOP } from "./top.ts";

const { scripts } = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

test("npm run check leaves out what starts programs or runs a network, and that alone", () => {
  const fast = new Set(fastTests());
  const isFast = (name: string) => {
    const file = `dist/test/${name}.test.js`;
    assert.ok(builtTests().includes(file), `${file} is there`);
    return fast.has(file);
  };
  for (const slow of [
    "e2e/newcomer",
    "cli/keys",
    "server/merged-weights",
    "writers/gguf",
    "engines/parametric/conformance",
  ]) {
    assert.equal(isFast(slow), false, slow);
  }
  for (const quick of ["audio/pcm", "http/access", "settings/load", "workers/worker-pool"]) {
    assert.equal(isFast(quick), true, quick);
  }
  assert.ok(fast.size > builtTests().length / 2, `${fast.size} of ${builtTests().length}`);
});

test("npm test and npm run check lint and build alike, and npm test runs every test that is built, once", () => {
  const prepare =
    "npm run --silent lint && npm run --silent build && node dist/test/architecture/run-tests.js ";
  assert.ok(scripts.test?.startsWith(`${prepare}all `));
  assert.ok(scripts.check?.startsWith(`${prepare}fast `));
});

test("every test is in one group, beside its neighbours, and none is in two", () => {
  const tests = builtTests();
  for (const limit of [1, 7, 16, tests.length, tests.length + 1]) {
    const groups = groupsOf(tests, limit);
    assert.deepEqual(groups.flat(), tests);
    assert.equal(groups.length, Math.ceil(tests.length / limit));
    assert.ok(groups.every(({ length }) => length > 0 && length <= limit));
  }
});

for (const page of ["README.md", "CONTRIBUTING.md"]) {
  test(`${page} names only commands that npm has`, () => {
    const named = [...readFileSync(join(TOP, page), "utf8").matchAll(/\bnpm (?:run )?([a-z]+)/g)].map(
      ([, name = ""]) => name,
    );
    const builtIn = ["ci", "install"];
    assert.deepEqual(
      named.filter((name) => !(name in scripts) && !builtIn.includes(name)),
      [],
    );
    for (const name of ["test", "check"]) assert.ok(named.includes(name), `it names npm's ${name}`);
  });
}
