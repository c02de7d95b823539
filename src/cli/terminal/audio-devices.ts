import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { WholeFrames } from "../../audio/pcm-format.ts";
import type { ReplyPlayer, ReplyPlayerEvents } from "../../client/realtime.ts";
import { replaceFile } from "../../core/replace-file.ts";

/** A program that records or plays, with its arguments. */
interface SoundProgram {
  readonly name: string;
  readonly args: readonly string[];
}

const ALSA = ["-q", "-t", "raw", "-f", "S16_LE", "-r", "24000", "-c", "1"];
const PULSE = ["--raw", "--format=s16le", "--rate=24000", "--channels=1", "--latency-msec=20"];
const SOX = ["-t", "raw", "-e", "signed-integer", "-b", "16", "-r", "24000", "-c", "1", "-"];

/** FFmpeg's name of the microphone, by platform. */
const FFMPEG_INPUT: Readonly<Record<string, readonly string[]>> = {
  darwin: ["-f", "avfoundation", "-i", ":default"],
  win32: ["-f", "dshow", "-i", "audio=default"],
};
const FFMPEG = ["-ac", "1", "-ar", "24000", "-f", "s16le", "-flush_packets", "1", "-"];

/** Programs that write the microphone's sound to standard output: 16-bit samples at 24 kHz, mono. */
const RECORDERS: readonly SoundProgram[] = [
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

/** Programs that play such samples from standard input as they come. */
const STREAM_PLAYERS: readonly SoundProgram[] = [
  { name: "pacat", args: ["--playback", ...PULSE] },
  { name: "aplay", args: [...ALSA, "--buffer-time=200000"] },
  { name: "play", args: ["-q", "--buffer", "1024", ...SOX] },
  {
    name: "ffplay",
    args: ["-nodisp", "-autoexit", "-loglevel", "quiet", "-f", "s16le", "-ar", "24000", "-i", "-"],
  },
];

/** Returns the first program on the path that records. @throws Error that lists them if there is none */
export function findRecorder(env: NodeJS.ProcessEnv): SoundProgram {
  return programOnPath(RECORDERS, "No program that records was found on this machine", env);
}

/** Returns the first program on the path that plays samples as they come. @throws Error that lists them if there is none */
export function findStreamPlayer(env: NodeJS.ProcessEnv): SoundProgram {
  return programOnPath(STREAM_PLAYERS, "No program that plays was found on this machine", env);
}

function programOnPath(
  programs: readonly SoundProgram[],
  missing: string,
  { PATH = "" }: NodeJS.ProcessEnv,
): SoundProgram {
  const ending = process.platform === "win32" ? ".exe" : "";
  const folders = PATH.split(delimiter).filter((folder) => folder !== "");
  const found = programs.find(({ name }) =>
    folders.some((folder) => existsSync(join(folder, name + ending))),
  );
  if (found !== undefined) return found;
  throw new Error(`${missing}: install one of ${programs.map(({ name }) => name).join(", ")}.`);
}

/** An open microphone. */
interface Microphone {
  /** Rejects with the reason if it ends by itself. */
  readonly failed: Promise<never>;
  close(): void;
}

/** Opens the microphone with {@link findRecorder}, and calls `onPcm` with 16-bit samples at 24 kHz as they come. */
export function openMicrophone(env: NodeJS.ProcessEnv, onPcm: (pcm: Int16Array) => void): Microphone {
  const { name, args } = findRecorder(env);
  const child = spawn(name, args, { stdio: ["ignore", "pipe", "pipe"], env });
  let isClosed = false;
  let said = "";
  const whole = new WholeFrames(2);
  child.stderr.on("data", (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2_000);
  });
  child.stdout.on("data", (chunk: Buffer) => {
    if (isClosed) return;
    const bytes = whole.push(chunk);
    // Copied, because an Int16Array must begin at an even byte.
    if (bytes.length > 0) onPcm(new Int16Array(new Uint8Array(bytes).buffer));
  });
  const failed = new Promise<never>((_, reject) => {
    child.once("error", (error) => reject(new Error(`${name} cannot be started: ${error.message}`)));
    child.once("close", (code) => {
      const last = said.trim().split("\n").at(-1) ?? "";
      const why = last === "" ? `it ended with ${code}` : last;
      if (!isClosed)
        reject(new Error(`No microphone is available to ${name} (${why}): is one there, and free?`));
    });
  });
  failed.catch(() => {});
  return {
    failed,
    close() {
      isClosed = true;
      child.kill();
    },
  };
}

const SAMPLE_RATE_HZ = 24_000;
const TICK_MS = 40;
/** Estimate, rather too long, of a sound device's delay between receiving a sample and playing it. */
const LATENCY_S = 0.1;

/**
 * Plays one reply with a program, which is killed to silence it.
 *
 * @param onFailure called if the program ends with an error
 */
export function openReplyPlayer(
  { name, args }: SoundProgram,
  env: NodeJS.ProcessEnv,
  { onPosition, onEnd }: ReplyPlayerEvents,
  onFailure: (sentence: string) => void,
): ReplyPlayer {
  const child = spawn(name, args, { stdio: ["pipe", "ignore", "ignore"], env });
  let givenS = 0;
  let startedMs: number | null = null;
  let isOver = false;
  const positionS = (): number => {
    if (startedMs === null) return 0;
    return Math.min(givenS, Math.max(0, (performance.now() - startedMs) / 1_000 - LATENCY_S));
  };
  const ticking = setInterval(() => onPosition(positionS()), TICK_MS);
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(ticking);
    onEnd();
  };
  child.stdin.on("error", () => {});
  child.once("error", (error) => {
    onFailure(`${name} cannot be started: ${error.message}.`);
    end();
  });
  child.once("exit", (code) => {
    if (!isOver && code !== 0) onFailure(`${name} could not play the reply (it ended with ${code}).`);
    end();
  });
  return {
    get positionS() {
      return positionS();
    },
    add(pcm) {
      startedMs ??= performance.now();
      givenS += pcm.length / SAMPLE_RATE_HZ;
      child.stdin.write(Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength));
    },
    complete: () => void child.stdin.end(),
    stop() {
      isOver = true;
      clearInterval(ticking);
      child.kill("SIGKILL");
    },
  };
}

/** Programs that play a WAV file, with their arguments. */
const FILE_PLAYERS: readonly (readonly [string, ...string[]])[] = [
  ["afplay"],
  ["paplay"],
  ["pw-play"],
  ["aplay", "-q"],
  ["play", "-q"],
  ["ffplay", "-nodisp", "-autoexit", "-loglevel", "quiet"],
];

/** Plays a WAV to its end with the first player of this machine. @throws Error if it has none */
export async function play(wav: Uint8Array): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "antiphon-"));
  try {
    const file = join(dir, "speech.wav");
    await replaceFile(file, wav);
    for (const [program, ...args] of FILE_PLAYERS) {
      if (await runPlayer(program, [...args, file])) return;
    }
  } finally {
    await rm(dir, { recursive: true });
  }
  throw new Error("No audio player was found on this machine: write a file with -o FILE.wav instead.");
}

/** Returns false if there is no such program; throws if it fails. */
function runPlayer(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const player = spawn(program, args, { stdio: "ignore" });
    player.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "ENOENT" ? resolve(false) : reject(error),
    );
    player.once("exit", (code) =>
      code === 0
        ? resolve(true)
        : reject(new Error(`${program} could not play the audio: write a file with -o.`)),
    );
  });
}
