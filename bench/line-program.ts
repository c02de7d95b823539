import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A program in another process that answers every line of JSON it is sent with one. */
export class LineProgram {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #said = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    const { stdout, stderr, stdin } = child;
    if (stdout === null) throw new TypeError("The program's output is not a pipe.");
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#said = (this.#said + text).slice(-2_000);
    });
    // A program that has ended tells so by its output's end.
    stdin?.on("error", () => {});
    child.on("error", (error) => {
      this.#said += error.message;
    });
  }

  /** Sends one value and gives the answer. @throws Error with the last line it printed when the program has ended. */
  async ask(question: unknown): Promise<unknown> {
    this.#child.stdin?.write(`${JSON.stringify(question)}\n`);
    return this.next();
  }

  /** The next answer. */
  async next(): Promise<unknown> {
    const line = await this.#lines.next();
    if (!line.done) return JSON.parse(line.value);
    throw new Error(this.#said.trim().split("\n").at(-1) || "it ended without an answer");
  }

  /** Lets it end. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.pid === undefined) return;
    this.#child.stdin?.end();
    await once(this.#child, "exit");
  }
}
