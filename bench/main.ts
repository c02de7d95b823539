import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Command } from "commander";
import { createFollowings } from "./following/followings.ts";
import { followingTable } from "./following/table.ts";
import { describeBusyness, describeMachine } from "./machine.ts";
import { NotMeasuredError } from "./not-measured-error.ts";
import { once } from "./once.ts";
import { Pythons } from "./python.ts";
import { Renderings } from "./renderings.ts";
import { asText, type Line, mergeRun, type Performance, type Report } from "./report.ts";
import type { Bench, Row } from "./row.ts";
import { ROWS } from "./rows.ts";
import { soundingsOf } from "./sound/soundings.ts";
import { PERFORMANCE } from "./top.ts";

interface Flags {
  readonly only?: string;
  readonly quick?: boolean;
  readonly write?: boolean;
  readonly table?: string;
  readonly against?: string;
}

/** A first run installs Python's packages, which takes minutes; what runs only by its name may take long. */
const MAX_ROW_MS = 900_000;
const MAX_LONG_ROW_MS = 4 * MAX_ROW_MS;

const program = new Command("bench")
  .description("Measures Antiphon on this machine and prints the results as a table.")
  .option("--only <rows>", `some rows, with commas between: ${ROWS.map(({ id }) => id).join(", ")}`)
  .option("--quick", "a look at every row instead of a measurement")
  .option("--write", "write the measured rows into docs/performance.json (not with --quick)")
  .option("--table <file>", "also write, person by person, how near following comes (some minutes)")
  .option("--against <folder>", "another checkout, built, which the row pairs compares this one with")
  .action(async (flags: Flags) => {
    const rows = chosenRows(flags.only);
    if (flags.write && flags.quick) program.error("--write takes a full measurement: leave out --quick.");
    const busy = describeBusyness();
    if (busy !== null)
      process.stderr.write(`The machine is busy (${busy}): times will be worse than its own.\n`);
    const isQuick = flags.quick === true;
    const note = (text: string) => process.stderr.write(`  ${text}\n`);
    const python = new Pythons(note);
    const followings = createFollowings({ sentences: isQuick ? 8 : 60, python, note });
    const bench: Bench = {
      isQuick,
      against: flags.against === undefined ? null : resolve(flags.against),
      note,
      python,
      renderings: new Renderings(isQuick ? 8 : 60),
      followings,
      soundings: once(async () => {
        const people = await followings.references().catch((error: unknown) => {
          if (!(error instanceof NotMeasuredError)) throw error;
          note(error.message);
          return [];
        });
        return soundingsOf(people, isQuick ? 8 : 60);
      }),
    };
    const lines: Line[] = [];
    for (const row of rows) lines.push(await lineOf(row, bench));
    if (flags.table !== undefined) await writeFile(flags.table, await followingTable(bench.followings));
    await bench.renderings.remove();
    await bench.followings.remove();
    const report: Report = {
      machine: busy === null ? describeMachine() : `${describeMachine()}, busy (${busy})`,
      date: new Date().toISOString().slice(0, 10),
      lines,
    };
    process.stdout.write(asText(report));
    if (flags.write) {
      const earlier = JSON.parse(await readFile(PERFORMANCE, "utf8")) as Performance;
      const merged = mergeRun(earlier, report, flags.only === undefined);
      await writeFile(PERFORMANCE, `${JSON.stringify(merged, null, 2)}\n`);
    }
  });

await program.parseAsync();
// A row that was given up may still hold something open.
process.exit();

function chosenRows(only: string | undefined): readonly Row[] {
  if (only === undefined) return ROWS.filter(({ isOnlyByName }) => isOnlyByName !== true);
  const ids = only.split(",").map((id) => id.trim());
  const unknown = ids.find((id) => !ROWS.some((row) => row.id === id));
  if (unknown !== undefined)
    program.error(`There is no row "${unknown}": ${ROWS.map(({ id }) => id).join(", ")}.`);
  return ROWS.filter(({ id }) => ids.includes(id));
}

/** Measures a row. One that fails says so in its place, and the others go on. */
async function lineOf(row: Row, bench: Bench): Promise<Line> {
  const { id, what, goal } = row;
  const begunMs = performance.now();
  process.stderr.write(`${id} …\n`);
  try {
    const { measured, isMet } = await within(
      row.isOnlyByName === true ? MAX_LONG_ROW_MS : MAX_ROW_MS,
      row.measure(bench),
    );
    const tookS = ((performance.now() - begunMs) / 1_000).toFixed(0);
    process.stderr.write(`  ${measured} (${tookS} s)\n`);
    return { id, what, goal, measured, isMet };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`  ${reason}\n`);
    const measured = error instanceof NotMeasuredError ? reason : `failed: ${reason}`;
    return { id, what, goal, measured, isMet: error instanceof NotMeasuredError ? null : false };
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took more than ${ms / 60_000} minutes`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
