import type { Command } from "commander";
import { version } from "../../server/version.ts";
import type { Settings } from "../../settings/schema.ts";
import { type CommandIo, printLine } from "./command-io.ts";

/** Adds the options of every command, `--data-dir`, `--config` and `--version`, and strict parsing. */
export function addGlobalOptions(command: Command): Command {
  return command
    .option(
      "--data-dir <dir>",
      "folder for keys, usage and models (default: $ANTIPHON_DATA_DIR or the platform's)",
    )
    .option("--config <file>", "JSON file with settings")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .allowExcessArguments(false)
    .showHelpAfterError(false)
    .showSuggestionAfterError(true)
    .configureOutput({ outputError: () => {} })
    .exitOverride();
}

/**
 * Reads a command's settings: its own flags (by setting name), `--data-dir` and `--config` anywhere on the line, the
 * environment and the file. Ignored variables are reported on standard error, so call this once per command.
 *
 * @throws SettingsError for the first setting that is unknown or invalid
 */
export async function settingsOf(
  command: Command,
  { env, stderr }: CommandIo,
  flags: Readonly<Record<string, string | boolean | undefined>> = {},
): Promise<Settings> {
  const { loadSettings } = await import("../../settings/load.ts");
  const dataDir = optionOf(command, "dataDir");
  return loadSettings({
    flags: { dataDir, ...flags },
    env,
    configFile: optionOf(command, "config"),
    warn: (sentence) => printLine(stderr, sentence),
  });
}

/** Returns an option's value from the command or its nearest parent that has it. */
function optionOf(command: Command, option: string): string | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const value: unknown = at.getOptionValue(option);
    if (typeof value === "string") return value;
  }
  return undefined;
}
