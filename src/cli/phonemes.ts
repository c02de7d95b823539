import { text } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { ServiceError } from "../contract/errors.ts";
import { UsageError } from "../server/errors.ts";
import type { LanguageTag } from "../text/languages/language.ts";
import { LANGUAGE_TAGS } from "../text/languages/languages.ts";
import type { CommandIo } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";

interface PhonemesOptions {
  readonly json?: boolean;
  readonly language: LanguageTag;
  readonly accent?: LanguageTag;
}

/** Registers `antiphon phonemes TEXT|-`. */
export function registerPhonemes(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("phonemes"))
    .description("print the phonemes of a text, one sentence per line")
    .argument("<text>", "text, or - for standard input")
    .addOption(
      new Option("--language <tag>", "language of the voice").choices(LANGUAGE_TAGS).default("en-US"),
    )
    .addOption(new Option("--accent <tag>", "same as --language").choices(LANGUAGE_TAGS).hideHelp())
    .option("--json", "print a JSON array of sentences; with -, one array per line of input")
    .action(
      async (
        argument: string,
        { json, language, accent: tag = language }: PhonemesOptions,
        command: Command,
      ) => {
        const settings = await settingsOf(command, io);
        const { serverLexicon } = await import("../server/voices/lexicon-file.ts");
        const words = await serverLexicon(settings);
        const input = argument === "-" ? await text(io.stdin) : argument;
        const given = json === true && argument === "-" ? linesOf(input) : [input];
        const texts = await Promise.all(given.map(stripMarkup));
        const { openSpokenPhonemes } = await import("../engines/prosody/read-text.ts");
        const { embeddedCheckpoint } = await import("../models/installed-checkpoint.ts");
        const { phonemes, close } = await openSpokenPhonemes(embeddedCheckpoint.dir, {
          words,
          tag,
        });
        try {
          if (json !== true) {
            const sentences = await phonemes(texts[0]!);
            if (sentences.length === 0)
              throw new UsageError(`This cannot be read: ${await explainSilence(input)}.`);
            for (const sentence of sentences) io.stdout.write(`${sentence}\n`);
            return;
          }
          for (const text of texts) io.stdout.write(`${JSON.stringify(await phonemes(text))}\n`);
        } finally {
          await close();
        }
      },
    );
}

async function stripMarkup(text: string): Promise<string> {
  const { spokenWords } = await import("../serving/prepare/read-markup.ts");
  try {
    return spokenWords(text, "text");
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new UsageError(`This cannot be read: ${error.message}.`);
  }
}

/** Explains why nothing is spoken, as the refusal to speak does. */
async function explainSilence(text: string): Promise<string> {
  const { hasSpeakable } = await import("../text/characters.ts");
  return hasSpeakable(text)
    ? "the text holds nothing that this voice can pronounce: it reads Latin letters and digits"
    : "text has nothing speakable: it needs at least one letter or digit";
}

/** Splits into lines; the last may lack its end. */
function linesOf(input: string): string[] {
  const lines = input.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
