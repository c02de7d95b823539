import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A program at work in a process of its own. */
export interface ToldProcess<Result> {
  /** Tells it to stop, and gives what it says of its work. */
  stop(): Promise<Result>;
}

/**
 * Starts a program that takes a job as its first message, answers when it has begun, and answers the second message with
 * its result and ends. Resolves when it has begun. @throws Error when it ends before.
 */
export async function startTold<Result>(program: URL, job: object): Promise<ToldProcess<Result>> {
  const path = fileURLToPath(program);
  const child = fork(path, { execArgv: [] });
  const ended = once(child, "exit").then(([code]): never => {
    throw new Error(`${path} ended with code ${code} and no result.`);
  });
  ended.catch(() => {});
  const message = async (): Promise<unknown> => (await Promise.race([once(child, "message"), ended]))[0];
  const begun = message();
  child.send(job);
  await begun;
  return {
    async stop() {
      const result = message();
      child.send("stop");
      const told = (await result) as Result;
      await ended.catch(() => {});
      return told;
    },
  };
}
