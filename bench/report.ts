import { table } from "../src/cli/terminal/command-io.ts";

/** A row of the table, measured or not. */
export interface Line {
  readonly what: string;
  readonly goal: string;
  readonly measured: string;
  /** `null`: not measured. */
  readonly isMet: boolean | null;
}

export interface Report {
  readonly machine: string;
  /** `2026-01-31`. */
  readonly date: string;
  readonly lines: readonly Line[];
}

/** For a terminal. */
export function asText({ machine, date, lines }: Report): string {
  const rows = lines.map(({ what, goal, measured, isMet }) => [what, goal, measured, verdict(isMet)]);
  return `${machine}\n${date}\n\n${table(["WHAT", "GOAL", "MEASURED", "MET"], rows)}`;
}

/** For a document. */
export function asMarkdown({ machine, date, lines }: Report): string {
  const rows = lines.map(({ what, goal, measured, isMet }) => [what, goal, measured, verdict(isMet)]);
  const markdown = [["what", "goal", "measured", "met"], ["---", "---", "---", "---"], ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`,
  );
  return `${date}, ${machine}.\n\n${markdown.join("\n")}`;
}

/** The document with what is between its two marks replaced. @throws Error when a mark is missing. */
export function withReport(document: string, report: Report): string {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END, begin);
  if (begin < 0 || end < 0) {
    throw new Error(
      `docs/performance.md lacks the marks ${BEGIN} and ${END}: put them where the table goes.`,
    );
  }
  return `${document.slice(0, begin + BEGIN.length)}\n${asMarkdown(report)}\n${document.slice(end)}`;
}

const BEGIN = "<!-- bench:begin -->";
const END = "<!-- bench:end -->";

function verdict(isMet: boolean | null): string {
  return isMet === null ? "not measured" : isMet ? "yes" : "no";
}
