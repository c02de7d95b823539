import type { Command } from "commander";
import { languageCode } from "../core/languages.ts";
import type {
  RecogniseOptions,
  TranscribedWord,
  TranscriptionTask,
  TranscriptSegment,
} from "../core/recogniser.ts";
import { UsageError } from "../server/errors.ts";
import type { Settings } from "../settings/schema.ts";
import { type CommandIo, onOneLine } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";
import { untilInterrupted } from "./terminal/stop-signal.ts";

interface TranscribeFlags {
  readonly json?: boolean;
  readonly srt?: boolean;
  readonly vtt?: boolean;
  readonly words?: boolean;
  readonly language?: string;
  readonly translate?: boolean;
}

/** Registers `antiphon transcribe FILE|-`, which works without a server. */
export function registerTranscribe(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("transcribe"))
    .description("transcribe a recording, without a server")
    .argument("<file>", "recording (WAV, MP3, FLAC, or Opus in Ogg or WebM), or - for standard input")
    .option("--json", "print JSON with segments")
    .option("--srt", "print SubRip captions")
    .option("--vtt", "print WebVTT captions")
    .option("--words", "add the time of each word: in JSON, or one caption per word")
    .option("--language <code>", "language of the recording, such as en (default: detected)")
    .option("--translate", "translate into English")
    .action(async (file: string, flags: TranscribeFlags, command: Command) => {
      const form = formOf(flags);
      const language = languageOf(flags);
      const settings = await settingsOf(command, io);
      const task: TranscriptionTask = flags.translate ? "translate" : "transcribe";
      const options = { task, language, wantsWords: flags.words ?? false };
      await untilInterrupted(async (signal) => {
        io.stdout.write(await transcribe(file, form, options, settings, io, signal));
      });
    });
}

type Form = "text" | "json" | "srt" | "vtt";

function formOf({ json, srt, vtt, words, translate }: TranscribeFlags): Form {
  const wanted = Object.entries({ json, srt, vtt }).flatMap(([form, is]) => (is ? [form as Form] : []));
  if (wanted.length > 1)
    throw new UsageError(
      `Only one of ${wanted.map((form) => `--${form}`).join(" and ")} can be given: leave the others out.`,
    );
  if (words && translate)
    throw new UsageError("The words of a translation are said at no time: leave out --words or --translate.");
  if (words && wanted.length === 0)
    throw new UsageError("Plain text has no times: give --json, --srt or --vtt with --words.");
  return wanted[0] ?? "text";
}

/** Returns the language code without its region (`pt-BR`); `null` to detect it. */
function languageOf({ language }: TranscribeFlags): string | null {
  if (language === undefined) return null;
  const code = languageCode(language.split(/[-_]/)[0]!);
  if (code !== null) return code;
  throw new UsageError(
    `The language ${JSON.stringify(language)} is unknown: give its ISO 639-1 code, such as en, or leave --language out to have it detected.`,
  );
}

async function transcribe(
  file: string,
  form: Form,
  asked: Pick<RecogniseOptions, "task" | "language" | "wantsWords">,
  settings: Settings,
  io: CommandIo,
  signal: AbortSignal,
): Promise<string> {
  const { readRecording } = await import("../server/voices/read-recording.ts");
  const { transcribeSound } = await import("./transcribe-sound.ts");
  const { toCaptions, toTranscriptJson } = await import("../serving/transcribe/transcript-formats.ts");
  const { toSrt, toVtt } = await import("../core/captions/captions.ts");
  const sound = await readRecording(file, signal, io.stdin);
  const { name, transcript } = await transcribeSound(sound, asked, settings, io, signal);
  const { text, segments } = transcript;
  // Empty output alone would look like a failure.
  if (segments.length === 0) io.stderr.write("There is no speech in it.\n");
  if (form === "json") return `${JSON.stringify(toTranscriptJson(transcript, name))}\n`;
  if (form === "text") return text === "" ? "" : `${onOneLine(io.stdout, text)}\n`;
  const captions = toCaptions(asked.wantsWords ? segments.flatMap(wordsOf) : segments);
  return form === "srt" ? toSrt(captions) : toVtt(captions);
}

/** Returns the words of a segment, or the segment itself if it has no word times. */
function wordsOf(segment: TranscriptSegment): readonly (TranscriptSegment | TranscribedWord)[] {
  return segment.words === null || segment.words.length === 0 ? [segment] : segment.words;
}
