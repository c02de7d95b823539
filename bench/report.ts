import { table } from "../src/cli/terminal/command-io.ts";

/** A row of a run, measured or not. */
export interface Line {
  readonly id: string;
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

/** `docs/performance.json`. */
export interface Performance {
  /** Date and machine of the last whole run, and of every row without its own. */
  readonly date: string;
  readonly machine: string;
  /** Latest result of each row. Rows that `bench/rows.ts` lacks were measured by hand. */
  readonly rows: readonly PerformanceRow[];
  /** Figures that pages quote, by the key in `<!-- figure: key -->`. */
  readonly figures: Readonly<Record<string, Figure>>;
}

export interface PerformanceRow {
  readonly id: string;
  readonly what: string;
  readonly goal: string;
  readonly measured: string;
  readonly met: boolean | null;
  readonly date?: string;
  readonly machine?: string;
}

export interface Figure {
  /** Id of the row. */
  readonly row: string;
  /** Part of the row's `measured` that the figure repeats or rounds. */
  readonly measured: string;
  /** Text on the pages. */
  readonly text: string;
}

/** Formats a report for a terminal. */
export function asText({ machine, date, lines }: Report): string {
  const rows = lines.map(({ what, goal, measured, isMet }) => [what, goal, measured, verdict(isMet)]);
  return `${machine}\n${date}\n\n${table(["WHAT", "GOAL", "MEASURED", "MET"], rows)}`;
}

/** Replaces the rows that a run measured, by id. A whole run also gives the document its date and machine. */
export function mergeRun(document: Performance, report: Report, isWhole: boolean): Performance {
  const { date, machine } = isWhole ? report : document;
  const rows = new Map(document.rows.map((row) => [row.id, { ...dateOf(document), ...row }]));
  for (const { isMet, ...line } of report.lines) {
    if (isMet !== null) rows.set(line.id, { ...line, met: isMet, ...dateOf(report) });
  }
  const merged = [...rows.values()].map(({ date: rowDate, machine: rowMachine, ...row }) => ({
    ...row,
    ...(rowDate === date ? {} : { date: rowDate }),
    ...(rowMachine === machine ? {} : { machine: rowMachine }),
  }));
  return { date, machine, rows: merged, figures: document.figures };
}

function dateOf({ date, machine }: { readonly date: string; readonly machine: string }) {
  return { date, machine };
}

function verdict(isMet: boolean | null): string {
  return isMet === null ? "not measured" : isMet ? "yes" : "no";
}
