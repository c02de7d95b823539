import { Command } from "commander";
import { registerCheck } from "./check.ts";
import { registerCheckpoint } from "./checkpoint.ts";
import { registerKeys } from "./keys.ts";
import { registerModels } from "./models.ts";
import { registerPhonemes } from "./phonemes.ts";
import { registerSay } from "./say.ts";
import { registerServe } from "./serve.ts";
import { registerTalk } from "./talk.ts";
import type { CommandIo } from "./terminal/command-io.ts";
import { addGlobalOptions, run } from "./terminal/global-options.ts";
import { safeScreen } from "./terminal/safe-screen.ts";
import { registerTranscribe } from "./transcribe.ts";
import { registerUsage } from "./usage.ts";
import { registerVoices } from "./voices.ts";

/** Every command. */
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
 * Runs `antiphon` with arguments to its end, and gives its exit code: 0, 1 when it failed, 2 when it was called wrongly.
 * It hears the signals of this process.
 */
export function runProgram(args: readonly string[], given: CommandIo): Promise<number> {
  const io: CommandIo = {
    env: given.env,
    // Opened only by what reads it.
    get stdin() {
      return given.stdin;
    },
    stdout: safeScreen(given.stdout),
    stderr: safeScreen(given.stderr),
  };
  const program = addGlobalOptions(new Command("antiphon"))
    .description("A conversational speech server: it takes a conversation and completes the last turn aloud.")
    .configureOutput({ writeOut: (text) => io.stdout.write(text) });
  for (const register of COMMANDS) register(program, io);
  return run(program, args, io);
}
