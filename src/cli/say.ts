import { basename, extname } from "node:path";
import type { Command } from "commander";
import type { SegmentedKind } from "../audio/encode/segmented-file.ts";
import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { countChars, MAX_TEXT_CHARS } from "../contract/limits.ts";
import type { WordTiming } from "../contract/spoken.ts";
import { ConversationError, NothingToSpeakError } from "../core/speech-model.ts";
import { UsageError } from "../server/errors.ts";
import type { CaptionForm } from "./book/book-sound.ts";
import { type SayFlags, SayRequests } from "./say-request.ts";
import { type CommandIo, writeOutput } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";

/** Registers `antiphon say TEXT|-`, which speaks without a server. */
export function registerSay(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("say"))
    .description("speak a text of any length, without a server")
    .argument("[text]", "text, or - for standard input")
    .option("-f, --file <file>", "text file to read; .md files are read as Markdown")
    .option(
      "-o, --output <file>",
      "output file: .wav, .mp3, .opus, .ogg or .flac (default: play on a terminal, otherwise WAV to standard output)",
    )
    .option("--speaker <label>", "speaker label, 0 or 1 (default: 0)")
    .option(
      "--voice <name>",
      "voice from `antiphon voices list`, or a mix such as nova(2)+onyx(1) if the model mixes voices",
    )
    .option(
      "--language <tag>",
      "language of --speaker or of OpenAI's voices, such as es (default: the voice's)",
    )
    .option("--model <id>", "model id from `antiphon models list` (default: the default model)")
    .option("--instructions <text>", "manner, such as: cheerful, a little slower")
    .option("--dialogue", "read the text as a script of lines `Name: words`, with one voice per name")
    .option("--ssml", "read the text as SSML (default: if it begins with <speak>)")
    .option(
      "--loudness <lufs>",
      "integrated loudness, from -30 to -10, such as -16 (default: the voice's own)",
      Number,
    )
    .option("--voice-like <file>", "recording of a voice to follow: WAV, MP3, FLAC, or Opus in Ogg or WebM")
    .option("--captions <file>", "also write captions: WebVTT (.vtt) or SubRip (.srt)")
    .option("--words", "add the time of each word to the captions (WebVTT only)")
    .option(
      "--chapters <how>",
      "chapters of a long text: marks in an MP3 or Opus file, or files, one per chapter (default: marks)",
    )
    .option("--title <text>", "title tag of an MP3, Opus or FLAC file (default: from Markdown front matter)")
    .option("--author <name>", "author tag (default: likewise)")
    .option("--params <json>", "generation parameters, as in params of POST /v1/tts")
    .action(async (argument: string | undefined, given: SayFlags, command: Command) => {
      const { output, ...rest } = given;
      const flags: SayFlags = output === undefined || output === "-" ? rest : given;
      const form = captionForm(flags);
      const encoding = encodingOf(flags.output);
      const inFiles = isFilePerChapter(flags);
      const settings = await settingsOf(command, io);
      if (flags.output === undefined) reportClosedOutput(io);
      const { openText } = await import("./book/long-text.ts");
      const text = await openText(
        argument,
        flags.file,
        io.stdin as AsyncIterable<Uint8Array>,
        MAX_TEXT_CHARS,
      );
      const { whole } = text;
      const isTagged = flags.title !== undefined || flags.author !== undefined;
      if (isTagged && encoding === "wav")
        throw new UsageError(
          "A WAV has no --title and --author: end the name after -o in .mp3, .opus, .ogg or .flac.",
        );
      const requests = await SayRequests.open(flags, settings, io);
      const isScript = flags.dialogue === true;
      if (
        whole === null ||
        text.format === "markdown" ||
        flags.chapters !== undefined ||
        isTagged ||
        isScript
      ) {
        const { sayLong } = await import("./book/say-long.ts");
        await sayLong(text, { encoding, form, inFiles }, flags, requests, io);
        return;
      }
      const beganMs = performance.now();
      const { file, spoken, durationS } = await speak(whole, encoding, flags, requests, io);
      if (flags.captions !== undefined && form !== null)
        await writeOutput(flags.captions, await captions(spoken, form), "--captions");
      if (flags.output !== undefined) {
        const { reportSpeech } = await import("./terminal/progress.ts");
        await writeOutput(flags.output, file, "-o");
        reportSpeech(io.stderr, flags.output, durationS, beganMs);
      } else if (io.stdout.isTTY) await (await import("./terminal/audio-devices.ts")).play(file);
      else io.stdout.write(file);
    });
}

/** Reports an output that closes early: truncated speech is a failure. */
function reportClosedOutput({ stdout, stderr }: CommandIo): void {
  stdout.prependListener("error", ({ code }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") return;
    stderr.write("Standard output was closed before all was spoken.\n");
    process.exitCode = 1;
  });
}

/** @throws UsageError for an unknown value of --chapters, and for files without a name */
function isFilePerChapter({ chapters, output }: SayFlags): boolean {
  if (chapters === undefined || chapters === "marks") return false;
  if (chapters !== "files")
    throw new UsageError(`--chapters is ${JSON.stringify(chapters)}: write marks or files.`);
  if (output === undefined) throw new UsageError("--chapters files needs a name: add -o, as in -o book.mp3.");
  return true;
}

const ENCODINGS: Readonly<Record<string, SegmentedKind>> = {
  "": "wav",
  ".wav": "wav",
  ".mp3": "mp3",
  ".opus": "opus",
  ".ogg": "opus",
  ".flac": "flac",
};

/** Returns the format of a file by its ending; without one it is WAV. */
function encodingOf(output = ""): SegmentedKind {
  // A name like `.mp3` is all ending.
  const ending = (
    extname(output) || (/^\.\w+$/.test(basename(output)) ? basename(output) : "")
  ).toLowerCase();
  const encoding = ENCODINGS[ending];
  if (encoding !== undefined) return encoding;
  const valid = Object.keys(ENCODINGS).filter((each) => each !== "");
  throw new UsageError(
    `Files that end in ${ending} cannot be made: end the name after -o in one of ${valid.join(", ")}.`,
  );
}

async function mp3Of(pcm: Int16Array): Promise<Uint8Array> {
  const { fileOfOneSegment } = await import("../audio/encode/segmented-file.ts");
  return await fileOfOneSegment("mp3", pcm);
}

interface Spoken {
  readonly file: Uint8Array;
  readonly durationS: number;
  readonly spoken: { readonly text: string; readonly words: readonly WordTiming[] };
}

async function speak(
  text: string,
  encoding: SegmentedKind,
  flags: SayFlags,
  requests: SayRequests,
  io: CommandIo,
): Promise<Spoken> {
  const prepared = await requests.prepare(text, flags.ssml === true ? "ssml" : undefined);
  const { encodedSpeech, speakEncoded } = await import("../core/encoded-speech.ts");
  const { normaliseSpeech } = await import("../core/level-speech.ts");
  const { buildScript } = await import("../serving/prepare/build-script.ts");
  const { MarkCollector, toReplyChunk } = await import("../serving/reply/reply-chunk.ts");
  const { joinBytes } = await import("../audio/pcm.ts");
  const voice = await requests.openVoice();
  try {
    const pieces: Uint8Array[] = [];
    let samples = 0;
    const script = buildScript(prepared, prepared.model.preset);
    const all = new MarkCollector();
    // Our streamed MP3 cannot declare its delay: captions would be 46 ms early.
    const isMp3 = encoding === "mp3";
    const { signal } = new AbortController();
    const made = isMp3 ? "pcm" : encoding;
    const { loudness } = flags;
    const lufs =
      isMp3 && loudness !== undefined
        ? (await import("../audio/encode/mp3.ts")).beforeMp3(loudness)
        : loudness;
    const speech =
      lufs === undefined
        ? speakEncoded(voice, script, made, signal)
        : encodedSpeech(normaliseSpeech(voice.speak(script, signal), lufs), made, script.seed);
    let step = await speech.next();
    for (; !step.done; step = await speech.next()) {
      const { bytes, marks } = toReplyChunk(step.value);
      pieces.push(bytes);
      samples += step.value.sampleCount;
      all.add(marks);
    }
    const joined = joinBytes(pieces);
    const file = isMp3 ? await mp3Of(new Int16Array(joined.buffer)) : joined;
    const { finishedHead = [], stop, spoken, voice: followed } = step.value;
    if (!isMp3) file.set(finishedHead);
    if (stop === "length")
      io.stderr.write(
        `Only ${countChars(spoken)} of ${countChars(text)} characters were spoken: max_new_tokens is ${prepared.delivery.maxFrames}.\n`,
      );
    const { cautions = [] } = followed ?? {};
    if (cautions.length > 0 && flags.voiceLike !== undefined) {
      io.stderr.write(
        `The recording is followed less closely (${cautions.join(", ")}): docs/voices.md says what helps.\n`,
      );
    }
    return {
      file,
      durationS: samples / SAMPLE_RATE_HZ,
      spoken: { text: prepared.conversation.open.text ?? "", words: all.marks().words ?? [] },
    };
  } catch (error) {
    const isCalledWrongly = error instanceof NothingToSpeakError || error instanceof ConversationError;
    if (!isCalledWrongly) throw error;
    throw new UsageError(`This cannot be said: ${error.message}.`);
  } finally {
    await voice.close();
  }
}

/** Returns the requested form of captions; null for none. */
function captionForm({ captions, words: hasWordTimes = false }: SayFlags): CaptionForm | null {
  const ending = /\.(vtt|srt)$/i.exec(captions ?? "")?.[1]?.toLowerCase();
  if (captions !== undefined && ending !== "vtt" && ending !== "srt")
    throw new UsageError(
      `The format of the captions ${captions} is unknown: name a file that ends in .vtt or .srt.`,
    );
  if (hasWordTimes && ending !== "vtt")
    throw new UsageError("Only WebVTT has word times: give --captions a file that ends in .vtt.");
  return ending === "vtt" || ending === "srt" ? { ending, hasWordTimes } : null;
}

async function captions({ text, words }: Spoken["spoken"], form: CaptionForm): Promise<string> {
  const { cuesOf, toSrt, toVtt } = await import("../core/captions/captions.ts");
  const cues = cuesOf(words, text, { hasWordTimes: form.hasWordTimes });
  return form.ending === "srt" ? toSrt(cues) : toVtt(cues);
}
