import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SPEECH_FORMATS, type SpeechFormat } from "../../src/contract/audio-speech.ts";
import { decode } from "../audio/encode/decoders.ts";
import { lastLines, run } from "./child.ts";
import { UnavailableError } from "./environment.ts";
import { compareSpeech, FIDELITY, type Sound } from "./fidelity.ts";
import type { Tell } from "./ledger.ts";
import type { SteadyServer } from "./steady-server.ts";

export const DECODERS = "decoders";

const SENTENCE = "The kettle has been on since five. Is there any milk, or shall I fetch some?";
/** The maximum number of characters, about four minutes. */
const LONGEST = "Ann has walked to the lake and back. "
  .repeat(111)
  .slice(0, 4_095)
  .trimEnd()
  .padEnd(4_096, ".");

/** ffmpeg's options for formats without a header. */
const RAW: Partial<Record<SpeechFormat, readonly string[]>> = {
  pcm: ["-f", "s16le", "-ar", "24000", "-ac", "1"],
  mulaw: ["-f", "mulaw", "-ar", "8000", "-ac", "1"],
  alaw: ["-f", "alaw", "-ar", "8000", "-ac", "1"],
};

/** Formats whose encoders keep state. */
const CODED: readonly SpeechFormat[] = ["mp3", "opus", "flac"];

const SAID: readonly Said[] = [
  ...SPEECH_FORMATS.map((format) => ({ name: "a letter", text: "a", format })),
  ...SPEECH_FORMATS.map((format) => ({ name: "no words", text: "—", format })),
  ...SPEECH_FORMATS.map((format) => ({ name: "a sentence", text: SENTENCE, format })),
  ...CODED.map((format) => ({ name: "4,096 characters", text: LONGEST, format })),
];

interface Said {
  readonly name: string;
  readonly text: string;
  readonly format: SpeechFormat;
}

/** Decodes every format with common decoders and compares the result with the speech. */
export async function tryDecoders(server: SteadyServer, tell: Tell): Promise<void> {
  const missing = await printedBy("ffmpeg", ["-version"]).then(
    () => null,
    (error: Error) => error,
  );
  if (missing !== null) return tell("every format", () => Promise.reject(missing));
  const folder = await mkdtemp(join(tmpdir(), "antiphon-decoders-"));
  try {
    for (const said of SAID)
      await tell(`${said.name} as ${said.format}`, () => tryFormat(server, folder, said));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryFormat(server: SteadyServer, folder: string, { text, format }: Said): Promise<string> {
  const ask = async (fields: object): Promise<Buffer> => {
    const asked = { input: text, response_format: format, ...fields };
    const reply = await server.post("/v1/audio/speech", asked);
    if (!reply.ok) throw new Error(await reply.text());
    return Buffer.from(await reply.arrayBuffer());
  };
  const streamed = await ask({ stream_format: "audio" });
  const decoded = await decodedBy(format, streamed);
  // The longest text is requested once.
  if (text !== LONGEST) {
    const joined = bytesInEvents(`${await ask({ stream_format: "sse" })}`);
    // A silent Ogg has a random serial number.
    const isSame = text === SENTENCE ? joined.equals(streamed) : joined.length === streamed.length;
    if (!isSame) throw new Error("the joined events are not the stream");
    const file = join(folder, `speech.${format}`);
    await writeFile(file, await ask({}));
    decoded.push(...(await decodedBy(format, file)));
  }
  const rateHz = format === "mulaw" || format === "alaw" ? 8_000 : 24_000;
  const spoken = { samples: await server.spoken(text, "0", rateHz), rateHz };
  const compared = decoded.map(({ samples }) => compareSpeech({ samples, rateHz }, spoken, FIDELITY[format]));
  const least = Math.min(...compared.map(({ correlation }) => correlation));
  const { seconds, more } = compared[0]!;
  return `${seconds.toFixed(2)} s, correlation at least ${least.toFixed(4)}, ${more} samples more`;
}

function bytesInEvents(stream: string): Buffer {
  const events = stream
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice("data: ".length)));
  if (events.pop()?.type !== "speech.audio.done") throw new Error("the events have no end");
  return Buffer.concat(events.map(({ audio }) => Buffer.from(audio, "base64")));
}

/** Decodes a file, or bytes by a pipe, with each program. */
async function decodedBy(format: SpeechFormat, from: string | Buffer): Promise<Sound[]> {
  const isPiped = typeof from !== "string";
  const input = isPiped ? from : undefined;
  // ffmpeg reports the last packet of any WAV of unknown length as damaged.
  const strict = format === "wav" && isPiped ? [] : ["-xerror"];
  const source = [...(RAW[format] ?? []), "-i", isPiped ? "pipe:0" : from];
  const target = [...(format === "opus" ? ["-ar", "24000"] : []), "-f", "s16le", "pipe:1"];
  const decoded = [await samplesBy("ffmpeg", ["-v", "error", ...strict, ...source, ...target], input)];
  if (format === "opus") {
    if (!isPiped) await isFlawless("opusinfo", [from]);
    const opusdec = ["--quiet", "--rate", "24000", "--no-dither", isPiped ? "-" : from, "-"];
    decoded.push(await samplesBy("opusdec", opusdec, input));
  }
  if (format === "flac") {
    // A stream cannot have a checksum.
    if (!isPiped) await isFlawless("flac", ["-t", "-s", "-w", from]);
    const flac = ["-d", "-s", "-c", "--force-raw-format", "--endian=little", "--sign=signed"];
    decoded.push(await samplesBy("flac", [...flac, isPiped ? "-" : from], input));
  }
  return decoded;
}

/** Runs a program that prints PCM16. */
async function samplesBy(program: string, args: readonly string[], input?: Buffer): Promise<Sound> {
  return decode("pcm", await printedBy(program, args, input));
}

/** Runs a program that checks a file. Throws its warnings. */
async function isFlawless(program: string, args: readonly string[]): Promise<void> {
  const printed = `${await printedBy(program, args)}`;
  const warning = /^.*\b(?:warning|invalid|corrupt|missing|error)\b.*$/im.exec(printed)?.[0];
  if (warning !== undefined) throw new Error(`${program}: ${warning}`);
}

async function printedBy(program: string, args: readonly string[], input?: Buffer): Promise<Buffer> {
  const { code, stdout, stderr } = await run(program, args, input === undefined ? {} : { input }).catch(
    (error: Error) => {
      throw new UnavailableError(`${program} cannot be run: ${error.message}`);
    },
  );
  if (code !== 0) throw new Error(`${program} ended with code ${code}: ${lastLines(stderr)}`);
  return stdout;
}
