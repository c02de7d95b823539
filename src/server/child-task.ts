import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { codeOf, messageOf } from "../models/download/pull-error.ts";
import { messageWithCauses } from "./errors.ts";

/** What a child process answers: what it made, or what was wrong, with the system's code where it has one. */
type Answer<T> = { readonly value: T } | { readonly problem: string; readonly code?: string };

/**
 * Has a module work in a process of its own: it blocks nobody, and the memory that it took is gone with it. The module
 * is sent `input` and answers it with {@link answerParent}; both are what JSON can hold.
 *
 * @param url of the module, compiled
 * @param what ends "the process that …", as in `merges`
 * @returns what its work returned
 * @throws Error in the words of what its work threw, with the code of the system where that had one, or when it ended
 * without an answer; the signal's reason.
 */
export async function runInChild<T>(url: URL, input: object, what: string, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const answer = await answerOf<T>(fileURLToPath(url), input, what, signal);
  signal.throwIfAborted();
  if ("value" in answer) return answer.value;
  throw Object.assign(new Error(answer.problem), answer.code === undefined ? {} : { code: answer.code });
}

/** Answers the one message that a child process gets. */
export function answerParent<I, T>(work: (input: I) => T | Promise<T>): void {
  process.once("message", async (input: I) => {
    process.send?.(await answered(work, input), () => process.disconnect());
  });
}

async function answered<I, T>(work: (input: I) => T | Promise<T>, input: I): Promise<Answer<T>> {
  try {
    return { value: await work(input) };
  } catch (error) {
    const code = codeOf(error);
    return code === undefined ? { problem: messageWithCauses(error) } : { problem: messageOf(error), code };
  }
}

function answerOf<T>(path: string, input: object, what: string, signal: AbortSignal): Promise<Answer<T>> {
  const child = fork(path, {
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    signal,
    killSignal: "SIGKILL",
  });
  return new Promise((resolve) => {
    let answer: Answer<T> | null = null;
    child.once("message", (message: Answer<T>) => {
      answer = message;
    });
    // Killed by the signal, or never begun.
    child.once("error", ({ message }) => {
      if (child.pid === undefined) resolve({ problem: message });
    });
    child.once("exit", (code, name) => {
      resolve(answer ?? { problem: `the process that ${what} ended with ${name ?? `code ${code}`}` });
    });
    child.send(input, () => {});
  });
}
