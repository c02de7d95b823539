import { spawn } from "node:child_process";
import { programOnPath, RECORDERS } from "./sound-programs.ts";

/** A microphone that is listened to. */
export interface Microphone {
  /** Rejects with an error that says why, if it ends by itself. */
  readonly failed: Promise<never>;
  close(): void;
}

/**
 * Listens by the first program that records and that this machine has, and calls `onPcm` with 16-bit samples at 24 kHz as
 * they come. Throws where there is none.
 */
export function openMicrophone(env: NodeJS.ProcessEnv, onPcm: (pcm: Int16Array) => void): Microphone {
  const { name, args } = programOnPath(RECORDERS, "No program that records was found on this machine", env);
  const child = spawn(name, args, { stdio: ["ignore", "pipe", "pipe"], env });
  let isClosed = false;
  let said = "";
  let rest = Buffer.alloc(0);
  child.stderr.on("data", (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2_000);
  });
  child.stdout.on("data", (chunk: Buffer) => {
    if (isClosed) return;
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 2);
    rest = bytes.subarray(whole);
    // A copy, since samples begin at even places.
    if (whole > 0) onPcm(new Int16Array(new Uint8Array(bytes.subarray(0, whole)).buffer));
  });
  const failed = new Promise<never>((_, reject) => {
    child.once("error", (error) => reject(new Error(`${name} cannot be started: ${error.message}`)));
    child.once("close", (code) => {
      const last = said.trim().split("\n").at(-1) ?? "";
      const why = last === "" ? `it ended with ${code}` : last;
      if (!isClosed) reject(new Error(`No microphone is heard by ${name} (${why}): is one there, and free?`));
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
