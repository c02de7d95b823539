import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { codeOf, messageOf } from "../models/download/pull-error.ts";
import { messageWithCauses } from "./errors.ts";

/** Answer of a child process: a result, or a problem with its system error code. */
type Answer<T> = { readonly value: T } | { readonly problem: string; readonly code?: string };

/**
 * Runs a module in a process of its own, which does not block this one and frees its memory at the end. The module
 * receives `input` and answers with {@link answerParent}; both must be JSON.
 *
 * @param url compiled module
 * @param what completes "the process that …", as in `merges`
 * @throws Error with the message (and system error code) of the module's error, or if it ended without an answer; the
 * signal's reason
 */
export async function runInChild<T>(url: URL, input: object, what: string, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const answer = await answerOf<T>(fileURLToPath(url), input, what, signal);
  signal.throwIfAborted();
  if ("value" in answer) return answer.value;
  throw Object.assign(new Error(answer.problem), answer.code === undefined ? {} : { code: answer.code });
}

/** Answers the one message of the parent process. */
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
    // Killed by the signal, or not started.
    child.once("error", ({ message }) => {
      if (child.pid === undefined) resolve({ problem: message });
    });
    child.once("exit", (code, name) => {
      resolve(answer ?? { problem: `the process that ${what} ended with ${name ?? `code ${code}`}` });
    });
    child.send(input, () => {});
  });
}
