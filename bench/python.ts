import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { LineProgram } from "./line-program.ts";
import { NotMeasuredError } from "./not-measured-error.ts";
import { CACHE, TOP } from "./top.ts";

/**
 * Programs in Python that measure: `bench/python/*.py`. They run in an environment of their own, made from
 * `bench/requirements.txt` at the first use, or in the interpreter that `ANTIPHON_BENCH_PYTHON` names.
 */
export class Pythons {
  readonly #note: (text: string) => void;
  #interpreter: Promise<string> | null = null;

  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  /**
   * Starts a program, which answers every line of JSON that it is sent with one. Its first line says that it is ready.
   *
   * @throws NotMeasuredError when there is no Python, or not what the program needs.
   */
  async start(program: string, args: readonly string[] = []): Promise<LineProgram> {
    this.#interpreter ??= this.#find();
    const child = spawn(await this.#interpreter, [join(TOP, "bench", "python", program), ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, OMP_NUM_THREADS: "1", PYTHONWARNINGS: "ignore" },
    });
    const running = new LineProgram(child);
    try {
      await running.next();
    } catch (error) {
      throw new NotMeasuredError(
        `${program} could not start: ${error instanceof Error ? error.message : error}`,
      );
    }
    return running;
  }

  async #find(): Promise<string> {
    const given = process.env.ANTIPHON_BENCH_PYTHON;
    if (given !== undefined && given !== "") return given;
    const folder = join(CACHE, "python");
    const interpreter =
      process.platform === "win32" ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python");
    const wanted = join(TOP, "bench", "requirements.txt");
    const installed = join(folder, "requirements.txt");
    if (existsSync(installed) && (await readFile(installed, "utf8")) === (await readFile(wanted, "utf8"))) {
      return interpreter;
    }
    this.#note("making a Python environment in bench/.cache (once; some minutes, about 2 GB)");
    await mkdir(CACHE, { recursive: true });
    await rm(folder, { recursive: true, force: true });
    await install("python3", ["-m", "venv", folder]);
    await install(interpreter, ["-m", "pip", "install", "--quiet", "--requirement", wanted]);
    await copyFile(wanted, installed);
    return interpreter;
  }
}

async function install(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2_000);
  });
  const code = await new Promise((resolve) => {
    child.once("error", (error) => {
      said = error.message;
      resolve(-1);
    });
    child.once("close", resolve);
  });
  if (code === 0) return;
  const why = said.trim().split("\n").at(-1) || `code ${code}`;
  throw new NotMeasuredError(`Python's packages cannot be had: ${why}`);
}
