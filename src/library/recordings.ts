import { readFile } from "node:fs/promises";
import { encodeWav } from "../audio/encode-wav.ts";
import { toPcm16 } from "../audio/pcm.ts";
import { openSound } from "../audio/recordings/recording-sound.ts";
import { abortable } from "../core/abortable.ts";
import type { AudioSource } from "../core/audio-source.ts";
import { asWav, MAX_RECORDED_S } from "../server/voices/read-recording.ts";
import { wrong } from "./errors.ts";
import { type Recording, SAMPLE_RATE, type Turn } from "./types.ts";

/** Maximum bytes of a stream or file. */
const MAX_BYTES = 2 ** 31 - 1;

/** Opens a recording in any accepted form; it is decoded as it is read. */
export async function soundOf(recording: Recording, signal: AbortSignal): Promise<AudioSource> {
  return openSound(await bytesOf(recording, "recording", signal), MAX_RECORDED_S);
}

/** Converts turns to the form of `POST /v1/converse`, whose schema reports any other error. */
export async function turnsAsSent(conversation: readonly Turn[], signal: AbortSignal): Promise<unknown> {
  if (!Array.isArray(conversation)) return conversation;
  const sent: unknown[] = [];
  for (const [at, turn] of (conversation as readonly Turn[]).entries()) {
    if (turn === null || typeof turn !== "object" || turn.audio === undefined) {
      sent.push(turn);
      continue;
    }
    const { audio, ...rest } = turn;
    const bytes = await bytesOf(audio, `conversation[${at}].audio`, signal);
    const isWav = bytes.toString("latin1", 0, 4) === "RIFF";
    const wav = isWav ? bytes : ((await asWav(bytes)) ?? bytes);
    sent.push({ ...rest, audio_wav_b64: wav.toString("base64") });
  }
  return sent;
}

/** @param field name in messages */
async function bytesOf(recording: unknown, field: string, signal: AbortSignal): Promise<Buffer> {
  if (typeof recording === "string" || recording instanceof URL) {
    return await readFile(recording, { signal }).catch((cause: NodeJS.ErrnoException) => {
      signal.throwIfAborted();
      throw wrong(field, `${recording} cannot be read (${cause.code}): name a file that can`, { cause });
    });
  }
  if (recording instanceof Float32Array) return Buffer.from(encodeWav(toPcm16(recording), SAMPLE_RATE));
  if (recording instanceof ArrayBuffer) return Buffer.from(recording);
  if (recording instanceof Uint8Array)
    return Buffer.from(recording.buffer, recording.byteOffset, recording.byteLength);
  if (recording instanceof Blob) return Buffer.from(await abortable(recording.arrayBuffer(), signal));
  if (typeof recording === "object" && recording !== null && Symbol.asyncIterator in recording)
    return await bytesOfStream(recording as AsyncIterable<unknown>, field, signal);
  throw wrong(field, "it must be a file's path, its bytes, a stream of them, or samples in a Float32Array");
}

async function bytesOfStream(
  stream: AsyncIterable<unknown>,
  field: string,
  signal: AbortSignal,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const iterator = stream[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const step = await abortable(iterator.next(), signal);
      isOver = step.done === true;
      if (isOver) return Buffer.concat(chunks);
      const chunk: unknown = step.value;
      if (!(chunk instanceof Uint8Array)) throw wrong(field, "its stream must be of bytes: set no encoding");
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw wrong(field, "its stream has more than 2 GiB: cut it into pieces");
      chunks.push(chunk);
    }
  } finally {
    // Not awaited: it may wait for bytes that never come.
    if (!isOver) iterator.return?.().catch(() => {});
  }
}
