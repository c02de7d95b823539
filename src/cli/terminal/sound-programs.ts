import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A program that records or plays, and how it is told to. */
export interface SoundProgram {
  readonly name: string;
  readonly args: readonly string[];
}

const ALSA = ["-q", "-t", "raw", "-f", "S16_LE", "-r", "24000", "-c", "1"];
const PULSE = ["--raw", "--format=s16le", "--rate=24000", "--channels=1", "--latency-msec=20"];
const SOX = ["-t", "raw", "-e", "signed-integer", "-b", "16", "-r", "24000", "-c", "1", "-"];

/** What FFmpeg calls the microphone, by platform. */
const FFMPEG_INPUT: Readonly<Record<string, readonly string[]>> = {
  darwin: ["-f", "avfoundation", "-i", ":default"],
  win32: ["-f", "dshow", "-i", "audio=default"],
};
const FFMPEG = ["-ac", "1", "-ar", "24000", "-f", "s16le", "-flush_packets", "1", "-"];

/** Programs that write what a microphone hears to standard output: 16-bit samples at 24 kHz, mono. */
export const RECORDERS: readonly SoundProgram[] = [
  { name: "parec", args: PULSE },
  { name: "arecord", args: [...ALSA, "--period-time=20000", "--buffer-time=200000"] },
  { name: "rec", args: ["-q", "--buffer", "1024", ...SOX] },
  { name: "sox", args: ["-q", "--buffer", "1024", "-d", ...SOX] },
  {
    name: "ffmpeg",
    args: [
      ...["-nostdin", "-loglevel", "error", "-fflags", "nobuffer"],
      ...(FFMPEG_INPUT[process.platform] ?? ["-f", "alsa", "-i", "default"]),
      ...FFMPEG,
    ],
  },
];

/** Programs that play such samples from standard input, as they come. */
export const STREAM_PLAYERS: readonly SoundProgram[] = [
  { name: "pacat", args: ["--playback", ...PULSE] },
  { name: "aplay", args: [...ALSA, "--buffer-time=200000"] },
  { name: "play", args: ["-q", "--buffer", "1024", ...SOX] },
  {
    name: "ffplay",
    args: ["-nodisp", "-autoexit", "-loglevel", "quiet", "-f", "s16le", "-ar", "24000", "-i", "-"],
  },
];

/**
 * The first of the programs that this machine has.
 *
 * @param missing what to say where it has none
 * @throws Error that says so, and lists them.
 */
export function programOnPath(
  programs: readonly SoundProgram[],
  missing: string,
  { PATH = "" }: NodeJS.ProcessEnv,
): SoundProgram {
  const endings = process.platform === "win32" ? [".exe"] : [""];
  const folders = PATH.split(delimiter).filter((folder) => folder !== "");
  const isThere = ({ name }: SoundProgram) =>
    folders.some((folder) => endings.some((ending) => existsSync(join(folder, name + ending))));
  const found = programs.find(isThere);
  if (found !== undefined) return found;
  throw new Error(`${missing}: install one of ${programs.map(({ name }) => name).join(", ")}.`);
}
