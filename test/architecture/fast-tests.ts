import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { findImports } from "./read-imports.ts";
import { TOP } from "./top.ts";

/** What runs a neural network: the voice's, the gate's, the embedded writer's. */
const NETWORKS = /^dist\/src\/(onnx\/session\.js|writers\/llama\/)/;

/** What starts a program whenever it is used, if it can start any; the rest of the source does only where it has to. */
const STARTERS = /^dist\/(test|src\/(cli|server))\//;

/** What a quick test may cost, in seconds of processor time: its process alone, with its start and its imports. */
export const MAX_COST_S = 2;

/** Where `npm run costs` writes which tests cost more: built tests and their seconds. */
export const COSTLY = join(TOP, "test/architecture/costly-tests.json");

/** The built tests that `npm run check` runs, from the top of the repository: the light ones that cost no more than that. */
export function fastTests(): string[] {
  const costly = new Set(Object.keys(JSON.parse(readFileSync(COSTLY, "utf8"))));
  return lightTests().filter((test) => !costly.has(test));
}

/**
 * The built tests that start no other program and can reach no neural network by what they import, in any way. Both are
 * read from the build, where types are gone, so that nobody has to keep a list.
 */
export function lightTests(): string[] {
  return builtTests().filter((test) => ![...reachedFrom(test)].some(isSlow));
}

/** Every test that is built. */
export function builtTests(): string[] {
  return readdirSync(join(TOP, "dist/test"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.js"))
    .map((name) => posix.join("dist/test", name.replaceAll("\\", "/")))
    .sort();
}

function isSlow(file: string): boolean {
  if (NETWORKS.test(file)) return true;
  return STARTERS.test(file) && importsOf(file).startsProgram;
}

function reachedFrom(test: string): Set<string> {
  const reached = new Set([test]);
  // A set that grows while it is walked is walked to its end.
  for (const file of reached) for (const target of importsOf(file).files) reached.add(target);
  return reached;
}

interface BuiltImports {
  readonly files: readonly string[];
  readonly startsProgram: boolean;
}

const known = new Map<string, BuiltImports>();

function importsOf(file: string): BuiltImports {
  const imports = known.get(file) ?? readBuiltImports(file);
  known.set(file, imports);
  return imports;
}

function readBuiltImports(file: string): BuiltImports {
  const imports = findImports(file, readFileSync(join(TOP, file), "utf8"));
  return {
    files: imports
      .flatMap(({ target }) => (target === null ? [] : [target.replace(/\.ts$/, ".js")]))
      .filter((target) => existsSync(join(TOP, target))),
    startsProgram: imports.some(({ specifier }) => specifier === "node:child_process"),
  };
}
