import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { sourceFiles } from "./read-imports.ts";

/** Figures by name, such as lines by room. */
export type Figures = Readonly<Record<string, number>>;

/** Words that style.md replaces, as they are counted in comments of `src`. */
const COMMENT_WORDS = ["whoever", "nobody", "somebody", "told", "unless told", "unless given", "unless said"];

/** Counts what `budgets.json` limits. */
export function measureTree(top: string): Readonly<Record<string, Figures>> {
  const files = ["src", "test"].flatMap((folder) => sourceFiles(top, folder));
  const texts = new Map(files.map((file) => [file, readFileSync(join(top, file), "utf8")]));
  const source = [...texts].filter(([file]) => file.startsWith("src/"));
  const comments = source.flatMap(([, text]) => text.match(/^[ \t]*(?:\/\/|\/?\*).*$/gm) ?? []).join("\n");
  return {
    lines: sum(
      [...texts].flatMap(([file, text]) => roomsOf(file).map((room) => [room, lineCount(text)] as const)),
    ),
    files: sum(source.map(() => ["src", 1] as const)),
    "top rooms": { src: new Set(source.map(([file]) => file.split("/")[1])).size },
    "files directly in a folder": sum(source.map(([file]) => [posix.dirname(file), 1] as const)),
    "characters of a regular expression": longestExpressions(source),
    "comment words": Object.fromEntries(
      COMMENT_WORDS.map((word) => [word, comments.match(new RegExp(`\\b${word}\\b`, "gi"))?.length ?? 0]),
    ),
    "words of a page": wordsOf(top, "docs"),
    "words of a decision": wordsOf(top, "docs/decisions"),
    "words of the README": { "README.md": wordCount(readFileSync(join(top, "README.md"), "utf8")) },
  };
}

/** Returns a line for each figure above its limit. The limit of `*` holds for every figure without one of its own. */
export function exceeded(figures: Figures, limits: Figures): string[] {
  return Object.entries(figures).flatMap(([name, figure]) => {
    const limit = limits[name] ?? limits["*"];
    if (limit === undefined) return [`${name}: ${figure}, no budget`];
    return figure > limit ? [`${name}: ${figure}, ${figure - limit} over its budget of ${limit}`] : [];
  });
}

/** Exported types of one name in several files. The browser client and the package's types mirror the contract on purpose. */
export function typesDeclaredTwice(top: string): string[] {
  const declared = new Map<string, string[]>();
  for (const file of sourceFiles(top, "src")) {
    if (file.startsWith("src/client/") || file === "src/library/types.ts") continue;
    const text = readFileSync(join(top, file), "utf8");
    for (const [, name = ""] of text.matchAll(
      /^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm,
    )) {
      declared.set(name, [...(declared.get(name) ?? []), file]);
    }
  }
  return [...declared]
    .filter(([, files]) => files.length > 1)
    .map(([name, files]) => `${name}: ${files.join(", ")}`);
}

/** `src` or `test` as a whole, and the room below it. */
function roomsOf(file: string): string[] {
  const [folder = "", room = ""] = file.split("/");
  return [folder, room.endsWith(".ts") ? `${folder} (top)` : `${folder}/${room}`];
}

/** The longest literal of each file. The formatter keeps a literal on one line. */
function longestExpressions(source: readonly (readonly [string, string])[]): Figures {
  const literal = /(?<=[(,=:[!&|?{};\s])\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[dgimsuvy]*/g;
  return Object.fromEntries(
    source.flatMap(([file, text]) => {
      const code = text.replace(/^[ \t]*(?:\/\/|\/?\*).*$/gm, "").match(literal) ?? [];
      const longest = Math.max(0, ...code.map(({ length }) => length));
      return longest === 0 ? [] : [[file, longest]];
    }),
  );
}

function wordsOf(top: string, folder: string): Figures {
  if (!existsSync(join(top, folder))) return {};
  const pages = readdirSync(join(top, folder)).filter((name) => name.endsWith(".md"));
  return Object.fromEntries(
    pages.map((name) => [name, wordCount(readFileSync(join(top, folder, name), "utf8"))]),
  );
}

const wordCount = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

const lineCount = (text: string): number => text.split("\n").length - 1;

function sum(entries: readonly (readonly [string, number])[]): Figures {
  const sums: Record<string, number> = {};
  for (const [name, count] of entries) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}
