// Which tests a compiled file has to answer to, and what they say.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where a folder's code is tested, when that is not, or not only, the folder of the same name. */
const TESTED_IN = {
  "src/serving": ["test/serving", "test/api/http"],
  "src/api/http": ["test/api/http"],
  "src/api/realtime": ["test/api/realtime"],
  "src/api/wyoming": ["test/api/wyoming"],
  "src/contract": ["test/contract", "test/api/http"],
  "src/engines/remote": ["test/engines/remote"],
  "src/writers/chat": ["test/writers/chat"],
  "src/writers/llama": ["test/writers/llama"],
  "src/writers/gate": ["test/writers/gate/"],
  "src/writers/small-talk": ["test/writers/small-talk/"],
  "src/writers/speakable": ["test/writers/speakable/", "test/writers/spoken"],
  "src/writers": ["dialogue", "deferred", "spoken", "tool-calls", "written"].map(
    (name) => `test/writers/${name}`,
  ),
};
/** Longer than a wait in a test may last. */
const LEAST_LIMIT_MS = 60_000;

/** Finds, for a compiled file in a tree, its tests, which must pass as they are, and how long they may take. */
export function areasIn(tree) {
  const areas = new Map();
  return async (file) => {
    const folder = dirname(file).slice("dist/".length);
    const name =
      Object.keys(TESTED_IN).find((key) => folder.startsWith(key)) ?? folder.split("/").slice(0, 2).join("/");
    if (!areas.has(name))
      areas.set(name, await measured(tree, TESTED_IN[name] ?? [name.replace("src", "test")]));
    return areas.get(name);
  };
}

async function measured(tree, places) {
  const isPlaced = (test) => places.some((place) => test.startsWith(join("dist", place)));
  const tests = filesIn(tree, "dist/test").filter((test) => test.endsWith(".test.js") && isPlaced(test));
  const startMs = performance.now();
  const { isRed, isOver } = await runTests(tree, tests, 600_000);
  if (tests.length === 0 || isRed || !isOver)
    throw new Error(`the tests in ${places} do not pass without a mutant: mend them first`);
  return { tests, limitMs: Math.max(LEAST_LIMIT_MS, 3 * (performance.now() - startMs)) };
}

/** Runs tests until one fails, all are over or the time is. */
export function runTests(tree, tests, limitMs) {
  return new Promise((resolve) => {
    const line = ["--test", "--test-reporter=tap", ...tests];
    const child = spawn(process.execPath, line, {
      cwd: tree,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const killAll = () => {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {}
    };
    let isRed = false;
    let isOver = true;
    const timer = setTimeout(() => {
      isOver = false;
      killAll();
    }, limitMs);
    process.once("exit", killAll);
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (piece) => {
      text = (text + piece).slice(-10_000);
      if (!/^ *not ok (?!.*# TODO)/m.test(text)) return;
      isRed = true;
      killAll();
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      process.off("exit", killAll);
      killAll();
      resolve({ isRed: isRed || (isOver && code !== 0), isOver });
    });
  });
}

/** The scripts below a folder of the tree, by their paths in it. */
export function filesIn(tree, folder) {
  return readdirSync(join(tree, folder), { recursive: true })
    .filter((name) => name.endsWith(".js"))
    .map((name) => join(folder, name))
    .sort();
}
