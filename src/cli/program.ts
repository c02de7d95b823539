import { Command, CommanderError } from "commander";
import { UsageError } from "../server/errors.ts";
import { registerCheckpoint } from "./checkpoint.ts";
import { registerKeys } from "./keys.ts";
import { registerModels } from "./models.ts";
import { registerPhonemes } from "./phonemes.ts";
import { registerSay } from "./say.ts";
import { registerServe } from "./serve.ts";
import { registerTalk } from "./talk.ts";
import { type CommandIo, printLine, safeScreen } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";
import { registerTranscribe } from "./transcribe.ts";
import { registerUsage } from "./usage.ts";
import { registerVoices } from "./voices.ts";

const COMMANDS: readonly ((program: Command, io: CommandIo) => void)[] = [
  registerServe,
  registerKeys,
  registerUsage,
  registerCheck,
  registerSay,
  registerVoices,
  registerTalk,
  registerTranscribe,
  registerPhonemes,
  registerModels,
  registerCheckpoint,
];

/**
 * Runs `antiphon` with arguments to its end. Returns the exit code: 0, 1 when it failed, 2 when it was called wrongly. A
 * failure is one plain sentence on standard error; `ANTIPHON_DEBUG=1` adds the stack. Listens to this process's signals.
 */
export async function runProgram(args: readonly string[], given: CommandIo): Promise<number> {
  const io: CommandIo = {
    env: given.env,
    // A getter, because the first access opens the stream.
    get stdin() {
      return given.stdin;
    },
    stdout: safeScreen(given.stdout),
    stderr: safeScreen(given.stderr),
  };
  try {
    await createProgram(io).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    printLine(io.stderr, sentenceOf(error));
    if (io.env.ANTIPHON_DEBUG === "1" && error instanceof Error) io.stderr.write(`${error.stack}\n`);
    return isUsageError(error) ? 2 : 1;
  }
}

export function createProgram(io: CommandIo): Command {
  const program = addGlobalOptions(new Command("antiphon"))
    .description("Conversational speech server: takes a conversation and speaks its last turn.")
    .configureOutput({ writeOut: (text) => io.stdout.write(text) });
  for (const register of COMMANDS) register(program, io);
  return program;
}

/** Registers `antiphon check`, which reads the whole database of keys and usage, also while a server runs. */
function registerCheck(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("check"))
    .description("check the database of keys and usage for damage")
    .action(async (_options: object, command: Command) => {
      const settings = await settingsOf(command, io);
      const { checkStore } = await import("../accounts/open.ts");
      const { storeUrl } = await import("../server/secret.ts");
      const what = await checkStore(settings, storeUrl(settings, io.env));
      io.stdout.write(`${what} is sound.\n`);
    });
}

function isUsageError(error: unknown): boolean {
  if (error instanceof CommanderError || error instanceof UsageError) return true;
  return (
    error instanceof Error && error.name === "SettingsError" && "source" in error && error.source === "flag"
  );
}

/** Commander's messages begin with `error:` and put a suggestion in brackets on a line of its own. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof CommanderError)) return asSentence(error.message);
  const isCommandMissing = error.code === "commander.help";
  const text = isCommandMissing ? "a command is missing" : error.message.replace(/^error: /, "");
  const [what = "", hint] = text.split("\n");
  const remedy = hint === undefined ? "see --help" : `${hint.replace(/[()]/g, "").replace(/^D/, "d")}`;
  return asSentence(`${what.replace(/\.$/, "")}: ${remedy}`);
}

/** Capitalises the first word unless it looks like the name of a setting, and ends the sentence. */
function asSentence(text: string): string {
  const begun = /^[a-z]+[ ,]/.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text;
  return `${begun}${/[.?!]$/.test(text) ? "" : "."}`;
}
