import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
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
    const requirements = join(TOP, "bench", "requirements.txt");
    const text = await readFile(requirements, "utf8");
    const folder = join(CACHE, "python");
    return environment(folder, ["--requirement", requirements], text, () =>
      this.#note("making a Python environment in bench/.cache (once; some minutes, about 2 GB)"),
    );
  }
}

/**
 * Makes a virtual environment in `folder` with what pip installs from `wanted`, unless it was made before with the same
 * `stamp`. `afterwards` then adds what is not in packages.
 *
 * @returns its interpreter
 * @throws NotMeasuredError when there is no Python, or pip fails
 */
export async function environment(
  folder: string,
  wanted: readonly string[],
  stamp: string,
  onBegin: () => void,
  afterwards = async (_interpreter: string): Promise<void> => {},
): Promise<string> {
  const isWindows = process.platform === "win32";
  const interpreter = isWindows ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python");
  const installed = join(folder, "requirements.txt");
  if (existsSync(installed) && (await readFile(installed, "utf8")) === stamp) return interpreter;
  onBegin();
  await mkdir(CACHE, { recursive: true });
  await rm(folder, { recursive: true, force: true });
  await runOrThrow("python3", ["-m", "venv", folder]);
  await runOrThrow(interpreter, ["-m", "pip", "install", "--quiet", ...wanted]);
  await afterwards(interpreter);
  await writeFile(installed, stamp);
  return interpreter;
}

/** @throws NotMeasuredError with the last line that the program printed on standard error */
export async function runOrThrow(command: string, args: readonly string[]): Promise<void> {
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
