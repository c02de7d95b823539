import { spawn } from "node:child_process";
import type { ReplyPlayer, ReplyPlayerEvents } from "../../client/realtime.ts";
import type { SoundProgram } from "./sound-programs.ts";

const SAMPLE_RATE_HZ = 24_000;
const TICK_MS = 40;
/** What a sound device takes from being given a sample to its being heard, as far as can be told: rather too long. */
const LATENCY_S = 0.1;

/**
 * Plays one reply by a program, which is ended to silence it.
 *
 * @param onFailure told when the program ends otherwise than it should
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
