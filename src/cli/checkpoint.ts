import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Precision } from "../engines/codec-lm/codec-language-model.ts";
import { UsageError } from "../server/errors.ts";
import type { CheckpointRun } from "./checkpoint-run.ts";
import type { CommandIo } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";
import { untilInterrupted } from "./terminal/stop-signal.ts";

type RunFlags = Omit<CheckpointRun, "precision" | "dataDir"> & { readonly dtype: string };

/** Registers `antiphon checkpoint check|run DIR`. */
export function registerCheckpoint(program: Command, io: CommandIo): void {
  const checkpoint = addGlobalOptions(program.command("checkpoint")).description(
    "check and run checkpoints of codec language models",
  );

  addGlobalOptions(checkpoint.command("check"))
    .description("report what is missing, wrong or unexpected in a checkpoint")
    .argument("<dir>", "folder with config.json, or name of a downloaded checkpoint")
    .option("--full", "check every weight instead of a sample")
    .action(async (folder: string, { full = false }: { full?: boolean }, command: Command) => {
      const { dataDir } = await settingsOf(command, io);
      const { validateCheckpoint } = await import("../engines/codec-lm/validate-checkpoint.ts");
      const dir = await folderOf(folder, dataDir);
      await untilInterrupted(async (signal) => {
        const numbers = full ? "all" : "sample";
        const { facts, problems } = await validateCheckpoint(dir, { numbers, signal });
        for (const line of [...facts, ...problems]) io.stdout.write(`${line}\n`);
        if (problems.length > 0)
          throw new Error(
            `${problems.length} ${problems.length === 1 ? "thing is" : "things are"} wrong with ${dir}`,
          );
        io.stdout.write("Everything that it needs is there.\n");
      });
    });

  addGlobalOptions(checkpoint.command("run"))
    .description("speak a conversation with a checkpoint, without a server")
    .argument("<dir>", "folder with config.json, or name of a downloaded checkpoint")
    .requiredOption("--conversation <file>", "JSON file with a body of POST /v1/converse")
    .option("--max-frames <n>", "maximum number of 80 ms frames", wholeNumber)
    .option("--dtype <type>", "precision of the weights: fp32, int8 or int4", "fp32")
    .option("--codes <file>", "JSON file for the generated codes")
    .option("-o, --output <file>", "WAV file for the speech")
    .option(
      "--option <name=value>",
      "parameter of the reference implementation; uniforms=FILE.json sets the random draws (repeatable)",
      named,
      new Map<string, string>(),
    )
    .action(async (folder: string, flags: RunFlags, command: Command) => {
      const precision = precisionOf(flags.dtype);
      if (flags.output !== undefined && !/\.wav$/i.test(flags.output)) {
        throw new UsageError("Only a WAV can be written: end the name after -o in .wav.");
      }
      const { dataDir } = await settingsOf(command, io);
      const { runCheckpoint } = await import("./checkpoint-run.ts");
      const dir = await folderOf(folder, dataDir);
      await untilInterrupted((signal) => runCheckpoint(dir, { ...flags, precision, dataDir }, io, signal));
    });
}

/** Returns a folder, or where the checkpoint of that name was pulled to. */
async function folderOf(given: string, dataDir: string): Promise<string> {
  if (existsSync(given)) return given;
  const { installedCodecLmDir } = await import("../models/installation-records.ts");
  return (await installedCodecLmDir(dataDir, given)) ?? given;
}

function precisionOf(dtype: string): Precision {
  if (dtype === "fp32" || dtype === "int8" || dtype === "int4") return dtype;
  throw new UsageError(`--dtype takes fp32, int8 or int4; it is ${dtype}.`);
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new UsageError(`--max-frames takes a whole number of at least 1; it is ${text}.`);
}

function named(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--option takes NAME=VALUE; it is ${text}.`);
  return new Map([...before, [text.slice(0, at), text.slice(at + 1)]]);
}
