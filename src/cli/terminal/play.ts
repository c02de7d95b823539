import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replaceFile } from "../../core/replace-file.ts";

/** Players that take a WAV file, and how each is told to be quiet about it. */
const PLAYERS: readonly (readonly [string, ...string[]])[] = [
  ["afplay"],
  ["paplay"],
  ["pw-play"],
  ["aplay", "-q"],
  ["play", "-q"],
  ["ffplay", "-nodisp", "-autoexit", "-loglevel", "quiet"],
];

/** Plays a WAV with the first player that this machine has. Throws when it has none. */
export async function play(wav: Uint8Array): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "antiphon-"));
  try {
    const file = join(dir, "speech.wav");
    await replaceFile(file, wav);
    for (const [program, ...args] of PLAYERS) {
      if (await ran(program, [...args, file])) return;
    }
  } finally {
    await rm(dir, { recursive: true });
  }
  throw new Error("No audio player was found on this machine: write a file with -o FILE.wav instead.");
}

/** False when there is no such program; throws when it fails. */
function ran(program: string, args: readonly string[]): Promise<boolean> {
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
