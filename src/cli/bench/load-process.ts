import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadJob, Utterance } from "./load-job.ts";

/**
 * Runs a load in a process of its own, so that what the clients compute is not measured as the server's.
 *
 * @throws Error when the process ends without a result.
 */
export function runLoad(job: LoadJob): Promise<readonly Utterance[]> {
  const child = fork(fileURLToPath(new URL("./load-generator.js", import.meta.url)), { execArgv: [] });
  return new Promise((resolve, reject) => {
    let result: readonly Utterance[] | null = null;
    child.once("message", (message: readonly Utterance[]) => {
      result = message;
    });
    child.once("error", reject);
    child.once("exit", (code) => {
      if (result !== null) resolve(result);
      else reject(new Error(`The load generator ended with code ${code} and no result.`));
    });
    child.send(job);
  });
}
