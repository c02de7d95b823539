import { type Command, CommanderError } from "commander";
import { UsageError } from "../../server/usage-error.ts";
import { version } from "../../server/version.ts";
import type { Settings } from "../../settings/schema.ts";
import type { CommandIo } from "./command-io.ts";
import { printLine } from "./safe-screen.ts";

/** Gives a command what every command has: `--data-dir`, `--config`, `--version` and a strict reading of its line. */
export function addGlobalOptions(command: Command): Command {
  return command
    .option(
      "--data-dir <dir>",
      "folder for keys, usage and models (default: $ANTIPHON_DATA_DIR, or else the platform's)",
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
 * The settings of a command: its own flags (by setting name), `--data-dir` and `--config` wherever on the line they
 * stand, the environment and the file. What was passed over is told on standard error; a command asks once, so that it is
 * told once.
 *
 * @throws SettingsError for the first setting that is unknown or is not what it takes.
 */
export async function settingsOf(
  command: Command,
  { env, stderr }: CommandIo,
  flags: Readonly<Record<string, string | boolean | undefined>> = {},
): Promise<Settings> {
  const { loadSettings } = await import("../../settings/load.ts");
  const dataDir = given(command, "dataDir");
  return loadSettings({
    flags: { dataDir, ...flags },
    env,
    configFile: given(command, "config"),
    warn: (sentence) => printLine(stderr, sentence),
  });
}

/**
 * Runs a program with arguments, and gives the exit code: 0, 1 when it failed, 2 when it was called wrongly. A failure is
 * one plain sentence on standard error; `ANTIPHON_DEBUG=1` adds where it happened.
 */
export async function run(
  program: Command,
  args: readonly string[],
  { env, stderr }: CommandIo,
): Promise<number> {
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    printLine(stderr, sentenceOf(error));
    if (env.ANTIPHON_DEBUG === "1" && error instanceof Error) stderr.write(`${error.stack}\n`);
    return isWrongCall(error) ? 2 : 1;
  }
}

/** The value nearest to the command, for an option that its parents have too. */
function given(command: Command, option: string): string | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const value: unknown = at.getOptionValue(option);
    if (typeof value === "string") return value;
  }
  return undefined;
}

function isWrongCall(error: unknown): boolean {
  if (error instanceof CommanderError || error instanceof UsageError) return true;
  return (
    error instanceof Error && error.name === "SettingsError" && "source" in error && error.source === "flag"
  );
}

/** Commander's messages begin with `error:` and put a suggestion in brackets on a line of its own. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof CommanderError)) return asSentence(error.message);
  const asksForCommand = error.code === "commander.help";
  const text = asksForCommand ? "a command is missing" : error.message.replace(/^error: /, "");
  const [what = "", hint] = text.split("\n");
  const remedy = hint === undefined ? "see --help" : `${hint.replace(/[()]/g, "").replace(/^D/, "d")}`;
  return asSentence(`${what.replace(/\.$/, "")}: ${remedy}`);
}

/** Begins with a capital, unless its first word is a name: that of a setting, or somebody's own. */
function asSentence(text: string): string {
  const begun = /^[a-z]+[ ,]/.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text;
  return `${begun}${/[.?!]$/.test(text) ? "" : "."}`;
}
