import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** One place where a file names another module. */
export interface Import {
  /** The importing file, from the top of the repository, with forward slashes. */
  readonly file: string;
  readonly line: number;
  /** As written: `"../audio/pcm.ts"`, `"node:fs"`, `"fastify"`; `null` when it is computed at run time. */
  readonly specifier: string | null;
  /** The file of ours that is meant, from the top of the repository; `null` for packages and built-in modules. */
  readonly target: string | null;
  /** False for the entry of a thread or a process, which runs on its own. */
  readonly isLoaded: boolean;
}

/** Every import below a folder of the repository: static, of types, re-exports, dynamic, required, worker entries. */
export function readImports(top: string, folder: string): Import[] {
  return sourceFiles(top, folder).flatMap((file) => findImports(file, readFileSync(join(top, file), "utf8")));
}

/** The TypeScript files below a folder, from the top of the repository. */
export function sourceFiles(top: string, folder: string): string[] {
  return readdirSync(join(top, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?tsx?$/.test(entry.name))
    .map((entry) =>
      posix.join(folder, posix.relative(folder, relativeFolder(top, entry.parentPath)), entry.name),
    )
    .sort();
}

/**
 * The imports of one file. A scanner, not a parser: it counts on the formatter, which begins every statement and
 * every line of a comment on a line of its own.
 */
export function findImports(file: string, source: string): Import[] {
  const code = source.replace(/^[ \t]*(?:\/\/|\/?\*).*$/gm, "");
  const imports: Import[] = [];
  for (const pattern of PATTERNS) {
    for (const match of code.matchAll(pattern)) {
      const line = code.slice(0, match.index + match[0].length).split("\n").length;
      const specifier = match[1] ?? null;
      imports.push({
        file,
        line,
        specifier,
        target: specifier === null ? null : targetOf(file, specifier),
        isLoaded: pattern !== ENTRY,
      });
    }
  }
  return imports.sort((a, b) => a.line - b.line);
}

const ENTRY = /\bnew URL\(\s*["'](\.[^"']+\.[cm]?[jt]s)["'],\s*import\.meta\.url/g;

const PATTERNS = [
  /^(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']/gm,
  /^import\s*["']([^"']+)["']/gm,
  /\b(?:import|require|import\.meta\.resolve)\(\s*["'`]([^"'`$]+)["'`]\s*[,)]/g,
  /\b(?:import|require|import\.meta\.resolve)\(\s*(?!["'`][^"'`$]+["'`]\s*[,)])[^)\s]/g,
  ENTRY,
];

function targetOf(file: string, specifier: string): string | null {
  if (!specifier.startsWith(".")) return null;
  return posix.join(posix.dirname(file), specifier).replace(/\.([cm]?)js$/, ".$1ts");
}

function relativeFolder(top: string, folder: string): string {
  return posix.relative(top.replaceAll("\\", "/"), folder.replaceAll("\\", "/"));
}
