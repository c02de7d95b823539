import type { IncomingMessage } from "node:http";

/** Bytes that may wait to be written before the sender is held back. */
const MAX_WAITING_BYTES = 1 << 20;

/**
 * Hands on what a body brings, in order, until it ends or `isEnough`. When it breaks off, all that had come by then is
 * handed on first: a stream that is iterated over would drop what it still holds.
 *
 * @throws what the body or `write` fails with.
 */
export async function receive(
  body: IncomingMessage,
  write: (bytes: Buffer) => Promise<void>,
  isEnough: () => boolean,
): Promise<void> {
  // It may have broken off before anybody listened; it says so no more then.
  if (body.destroyed) throw body.errored ?? new Error("aborted");
  let waitingBytes = 0;
  let writing = Promise.resolve();
  try {
    await new Promise<void>((resolve, reject) => {
      body.once("end", resolve).once("close", resolve).once("error", reject);
      body.on("data", (bytes: Buffer) => {
        waitingBytes += bytes.length;
        if (waitingBytes > MAX_WAITING_BYTES) body.pause();
        writing = writing.then(async () => {
          if (!isEnough()) await write(bytes);
          waitingBytes -= bytes.length;
          if (isEnough()) resolve();
          else if (body.isPaused() && waitingBytes <= MAX_WAITING_BYTES) body.resume();
        });
        writing.catch(reject);
      });
    });
  } finally {
    body.removeAllListeners("data").pause();
    await writing.catch(() => {});
  }
  await writing;
}
