import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BombName } from "../../test/audio/recordings/bombs.ts";
import type { DecodingCost } from "./decode-program.ts";

/**
 * What decoding such a file takes, in a process of its own.
 *
 * @returns `late` where it is given up after `maxS` seconds, `dead` where the process ends of it
 */
export function decodingCost(name: BombName, maxS: number): Promise<DecodingCost | "late" | "dead"> {
  const program = fileURLToPath(new URL("./decode-program.js", import.meta.url));
  // What a process prints that dies of too much memory is long.
  const child = fork(program, { execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
  return new Promise((resolve, reject) => {
    let result: DecodingCost | "late" | "dead" = "dead";
    const timer = setTimeout(() => {
      result = "late";
      child.kill("SIGKILL");
    }, 1_000 * maxS);
    child.once("message", (cost: DecodingCost) => {
      result = cost;
    });
    child.once("error", reject);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve(result);
    });
    child.send(name);
  });
}
