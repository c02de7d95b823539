import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { TOP } from "../architecture/top.ts";

/** What is installed, built or fetched: no page may lead there. */
const NOT_OURS =
  /^(?:\.git|node_modules|dist|shared|bench\/\.cache)(?:\/|$)|(?:^|\/)(?:node_modules|\.venv)\//;

const pages = readdirSync(TOP, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".md") && !NOT_OURS.test(file))
  .sort();

test("every link leads to a file, and every anchor to a heading", () => {
  const dead = pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page} links to ${link}`),
  );
  assert.deepEqual(dead, []);
});

test("README.md leads to every page", () => {
  const linked = new Set(linksOf("README.md").map((link) => link.split("#")[0]));
  const unlinked = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page) && !linked.has(page));
  assert.deepEqual(unlinked, []);
});

test("an anchor is GitHub's for its heading", () => {
  const headings =
    "# `POST /v1/tts`, *whole*\n\n## What's next?\n\n```sh\n# no heading\n```\n\n## What's next?\n";
  assert.deepEqual(anchorsIn(headings), ["post-v1tts-whole", "whats-next", "whats-next-1"]);
});

/** The addresses that a page links to or shows as images, but for those of other sites. */
function linksOf(page: string): string[] {
  const prose = withoutFences(readFileSync(join(TOP, page), "utf8")).replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)]
    .map(([, address = ""]) => address)
    .filter((address) => !/^[a-z][a-z0-9+.-]*:/.test(address));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const file = path === "" ? page : posix.join(posix.dirname(page), path);
  if (NOT_OURS.test(file) || !existsSync(join(TOP, file))) return false;
  return anchor === undefined || anchorsIn(readFileSync(join(TOP, file), "utf8")).includes(anchor);
}

/** In small letters, punctuation left out, spaces as hyphens; the second of the same name is numbered. */
function anchorsIn(markdown: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutFences(markdown).matchAll(/^#{1,6} +(.+?)\s*$/gm)].map(([, heading = ""]) => {
    const anchor = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

function withoutFences(markdown: string): string {
  return markdown.replace(/^(```+|~~~+)[\s\S]*?^\1\s*$/gm, "");
}
