import { fork } from "node:child_process";

/** What was wrong in a child process, with the system's code where it has one. */
export interface ChildProblem {
  readonly problem: string;
  readonly code?: string;
}

/**
 * Has a module work in a process of its own: it blocks nobody, and the memory that it took is gone with it. The module
 * is sent `input` and answers with one message, as {@link answerParent} does.
 *
 * @param what ends "the process that …", as in `merges`
 * @returns what it answers, or that it ended without an answer; what a signal that aborts kills answers nothing
 */
export function inChild<E extends object>(
  modulePath: string,
  input: object,
  what: string,
  signal: AbortSignal,
): Promise<E | ChildProblem> {
  const child = fork(modulePath, {
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    signal,
    killSignal: "SIGKILL",
  });
  return new Promise((resolve) => {
    let end: E | null = null;
    child.once("message", (message: E) => {
      end = message;
    });
    // Killed by the signal, or never begun.
    child.once("error", ({ message }) => {
      if (child.pid === undefined) resolve({ problem: message });
    });
    child.once("exit", (code, name) => {
      resolve(end ?? { problem: `the process that ${what} ended with ${name ?? `code ${code}`}` });
    });
    child.send(input, () => {});
  });
}

/** Answers the one message that a child process gets. */
export function answerParent<I>(work: (input: I) => object | Promise<object>): void {
  process.once("message", async (input: I) => {
    process.send?.(await work(input), () => process.disconnect());
  });
}
