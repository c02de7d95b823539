import type { Screen } from "./command-io.ts";
import { onOneLine } from "./safe-screen.ts";

/** Returns lines with a heading, columns as wide as their widest cell, two spaces apart. @param screen where they are printed */
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
