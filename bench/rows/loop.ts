import { spawn } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { text } from "node:stream/consumers";
import { NotMeasuredError } from "../not-measured-error.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

const MAX_CHECK_S = 60;

/** What a developer waits for after a change. It takes many minutes and every core. */
export const loop: Row = {
  id: "loop",
  what: "`npm run check`; `npm test`",
  goal: `check ≤ ${MAX_CHECK_S} s; –`,
  isOnlyByName: true,
  async measure({ isQuick, note }) {
    const runs: Run[] = [];
    for (const command of isQuick ? ["check"] : ["check", "test"]) {
      note(`npm run ${command} …`);
      runs.push(await timed(command));
    }
    return { measured: runs.map(described).join("; "), isMet: runs[0]!.wallS <= MAX_CHECK_S };
  },
};

interface Run {
  readonly command: string;
  readonly wallS: number;
  /** Of the command and of all that it started. */
  readonly processorS: number;
  /** Of the machine at the end, over a minute: also what else ran. */
  readonly load: number;
}

/** @throws Error when the command fails; NotMeasuredError where no shell tells what its commands cost. */
async function timed(command: string): Promise<Run> {
  if (process.platform === "win32")
    throw new NotMeasuredError("not measured: it takes the times of a POSIX shell");
  const begunMs = performance.now();
  const shell = spawn("sh", ["-c", `npm run ${command} >&2 && times`], {
    cwd: TOP,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [times, [status]] = await Promise.all([text(shell.stdout), once(shell, "exit")]);
  if (status !== 0) throw new Error(`npm run ${command} failed`);
  const wallS = (performance.now() - begunMs) / 1_000;
  return { command, wallS, processorS: secondsIn(times), load: loadavg()[0] ?? 0 };
}

/** The sum of what `times` prints: user and system, of the shell and of its commands, as `1m2.5s`. */
function secondsIn(times: string): number {
  return [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, m, s]) => sum + 60 * Number(m) + Number(s),
    0,
  );
}

function described({ command, wallS, processorS, load }: Run): string {
  return `${command} ${wallS.toFixed(0)} s (processor ${processorS.toFixed(0)} s, load average ${load.toFixed(1)})`;
}
