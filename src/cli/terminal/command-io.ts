import { constants } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { replaceFile } from "../../core/replace-file.ts";

/** Parts of `process` that a command uses. */
export interface CommandIo {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Screen;
  readonly stderr: Screen;
}

/** An output stream: a terminal, a pipe or a file. */
export type Screen = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  /** Stream without escaping of control sequences: for our own only, never for text from elsewhere. */
  readonly raw?: Screen;
};

/** C0 but for tabs and line feeds, DEL, C1, and the marks, overrides and isolates of bidirectional text. */
const UNSAFE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const LINE_BREAKS = /[\n\r\v\f\x85\u2028\u2029]+/g;

/**
 * Escapes control sequences in what is printed on a terminal: text from elsewhere (chapters, replies, names, answers of
 * endpoints) could write to the clipboard or forge lines. Pipes and files are untouched.
 */
export function safeScreen(screen: Screen): Screen {
  if (screen.isTTY !== true) return screen;
  const write = (chunk: string | Uint8Array, ...rest: never[]) =>
    screen.write(typeof chunk === "string" ? safeText(chunk) : chunk, ...rest);
  return new Proxy(screen, {
    get(target, name) {
      if (name === "write") return write;
      if (name === "raw") return target;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Escapes control and bidirectional characters as JSON does. */
export function safeText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Returns a text without line breaks for a terminal, where they could forge lines. */
export function onOneLine({ isTTY }: Pick<Screen, "isTTY">, text: string): string {
  return isTTY === true ? text.replaceAll(LINE_BREAKS, " ") : text;
}

/** Prints a sentence on a line of its own. */
export function printLine(screen: Screen, sentence: string): void {
  screen.write(`${onOneLine(screen, sentence)}\n`);
}

/** Returns lines with a heading, columns as wide as their widest cell, two spaces apart. */
export function table(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  screen: Pick<Screen, "isTTY"> = {},
): string {
  const all = [heading, ...rows.map((row) => row.map((cell) => onOneLine(screen, cell)))];
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

/** Writes the file that an option names, or nothing if that fails. */
export async function writeOutput(file: string, content: Uint8Array | string, option: string): Promise<void> {
  try {
    const found = await stat(file).catch(() => null);
    // A device or a pipe cannot be replaced.
    if (found?.isFile() === false) await writeFile(file, content, { flag: constants.O_WRONLY });
    else await replaceFile(file, content);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Error(`The file ${file} cannot be written (${code}): name another with ${option}.`, { cause });
  }
}
