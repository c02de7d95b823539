import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { builtTests, fastTests } from "./fast-tests.ts";
import { TOP } from "./top.ts";

/**
 * Where modules that run several tests are written: beside the built tests, so that nobody takes them for one. `node --test`
 * goes by names, so the quick ones come last and fill the cores while the longest end.
 */
const GROUPS = "dist/tests-in-groups";

/**
 * A quick test takes less time than a process and its imports do, so neighbours, which import much the same, share one.
 * More to a process would leave cores idle at the end, while the last of them waits for its clients.
 */
const TESTS_A_GROUP = 16;

/** What `node --test` is given to run the quick tests: modules that run some of them each, freshly written. */
export function fastGroups(): string[] {
  rmSync(join(TOP, GROUPS), { recursive: true, force: true });
  mkdirSync(join(TOP, GROUPS), { recursive: true });
  return groupsOf(fastTests(), TESTS_A_GROUP).map((tests, n) => {
    const file = posix.join(GROUPS, `${String(n).padStart(2, "0")}.test.js`);
    writeFileSync(join(TOP, file), moduleOf(tests));
    return file;
  });
}

/** What `node --test` is given to run all tests: the quick ones in groups, and each of the others by itself. */
export function allGroups(): string[] {
  const fast = new Set(fastTests());
  return [...builtTests().filter((test) => !fast.has(test)), ...fastGroups()];
}

/** As few groups of neighbours as that limit allows, all of about one size. */
export function groupsOf(tests: readonly string[], limit: number): string[][] {
  const count = Math.ceil(tests.length / limit);
  return Array.from({ length: count }, (_, n) =>
    tests.slice(Math.round((n * tests.length) / count), Math.round(((n + 1) * tests.length) / count)),
  );
}

/**
 * Each file is imported inside a suite of its name. What it registers at its top, hooks too, belongs to that suite, and
 * the next file is imported when the suite is over: no two share a hook, and none runs beside another.
 */
function moduleOf(tests: readonly string[]): string {
  const suites = tests.map(
    (test) =>
      `await suite(${JSON.stringify(test)}, () => import(${JSON.stringify(posix.relative(GROUPS, test))}));`,
  );
  return `import { suite } from "node:test";\n\n${suites.join("\n")}\n`;
}
