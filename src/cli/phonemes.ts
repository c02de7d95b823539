import type { Command } from "commander";
import { embeddedCheckpoint } from "../catalogue/installed-checkpoint.ts";
import { serverLexicon } from "../server/lexicon-file.ts";
import { UsageError } from "../server/usage-error.ts";
import type { CommandIo } from "../terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "../terminal/global-options.ts";
import { readInput } from "../terminal/read-input.ts";
import { inlineFault } from "../text/inline-phonemes.ts";
import { hasSpeakable } from "../text/speakable.ts";

/** `antiphon phonemes TEXT|-`: what the embedded voice reads a text as. */
export function registerPhonemes(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("phonemes"))
    .description("print the phonemes of a text as the embedded voice reads it, one sentence a line")
    .argument("<text>", "the text, or - for standard input")
    .option("--json", "print a JSON array of sentences; with -, one array for each line of input")
    .action(async (argument: string, { json }: { json?: boolean }, command: Command) => {
      const settings = await settingsOf(command, io);
      const words = await serverLexicon(settings);
      const input = await readInput(argument, io.stdin);
      const fault = inlineFault(input);
      if (fault !== null) throw new UsageError(`This cannot be read: text: ${fault}.`);
      const { openSpokenPhonemes } = await import("../planning/read-text.ts");
      const { phonemes, close } = await openSpokenPhonemes(embeddedCheckpoint.dir, {
        words,
      });
      try {
        if (json !== true) {
          const sentences = await phonemes(input);
          if (sentences.length === 0) throw new UsageError(`This cannot be read: ${silenceOf(input)}.`);
          for (const sentence of sentences) io.stdout.write(`${sentence}\n`);
          return;
        }
        for (const line of argument === "-" ? linesOf(input) : [input]) {
          io.stdout.write(`${JSON.stringify(await phonemes(line))}\n`);
        }
      } finally {
        await close();
      }
    });
}

/** Why nothing is said of a text, in the words that refuse to speak it. */
function silenceOf(text: string): string {
  return hasSpeakable(text)
    ? "the text holds nothing that this voice can pronounce: it reads Latin letters and digits"
    : "text has nothing speakable: it needs at least one letter or digit";
}

/** Lines without their ends; a last line needs none. */
function linesOf(input: string): string[] {
  const lines = input.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
