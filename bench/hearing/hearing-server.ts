import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { toPcm16 } from "../../src/audio/pcm.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { makeKeys } from "../keys.ts";
import { type ServerCommand, type ServerProcess, startServerProcess } from "../load/server-process.ts";
import { startWriterServer } from "../writer-server.ts";
import { recogniserFolder } from "./recogniser.ts";
import { clipOf } from "./sounds.ts";

/** A server that can hear, and keys beside its own, none of which a measurement exhausts. */
export interface HearingServer extends ServerProcess {
  readonly keys: readonly string[];
}

export interface HearingServerOptions {
  /** Whether the embedded writer is there too. */
  readonly withWriter?: boolean;
  /** Keys beside its own. */
  readonly keys?: number;
  /** Starts it; not together with the embedded writer. */
  readonly serve?: ServerCommand;
}

/** Its recogniser is loaded. */
export async function startHearingServer({
  withWriter = false,
  keys: count = 0,
  serve,
}: HearingServerOptions = {}): Promise<HearingServer> {
  const folder = await recogniserFolder();
  let keys: readonly string[] = [];
  const prepare = async (dataDir: string) => {
    const into = join(dataDir, "checkpoints", "whisper-base");
    await mkdir(dirname(into), { recursive: true });
    await symlink(folder, into);
    if (count > 0) keys = await makeKeys(dataDir, count);
  };
  const server = withWriter
    ? await startWriterServer(prepare)
    : await startServerProcess({ prepare, ...(serve === undefined ? {} : { serve }) });
  // Silence is answered without a look at it, but not before the recogniser is there.
  await transcribed(server, clipOf(new Float32Array(16_000), "silence"));
  return { ...server, keys };
}

/** What a server hears in a clip. @throws Error with the answer when it is none. */
export async function transcribed({ url, key }: ServerProcess, clip: Clip): Promise<string> {
  const form = new FormData();
  form.set("model", "whisper-1");
  form.set("file", new Blob([Buffer.from(wavOf(clip))]), "clip.wav");
  const answer = await fetch(`${url}/v1/audio/transcriptions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`a transcription failed: ${answer.status} ${text.slice(0, 200)}`);
  return (JSON.parse(text) as { readonly text: string }).text;
}

export function wavOf({ samples, sampleRateHz }: Clip): Uint8Array {
  return encodeWav(toPcm16(samples), sampleRateHz);
}
