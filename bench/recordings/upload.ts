import { connect } from "node:net";

/** A recording that somebody sends to be transcribed. */
export interface Upload {
  /** `http://host:port`. */
  readonly url: string;
  readonly key: string;
  readonly bytes: Uint8Array;
  /** After so long the client leaves, in milliseconds; with `null` it stays to the end. */
  readonly leaveAfterMs: number | null;
}

/** The status of the answer; 0 where the server closed the connection without one; null where the client left before. */
export type UploadStatus = number | null;

const BOUNDARY = "antiphon-bench";
const BEFORE =
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n` +
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="recording"\r\n` +
  "Content-Type: application/octet-stream\r\n\r\n";
const AFTER = `\r\n--${BOUNDARY}--\r\n`;

/** Sends a recording on a connection of its own and waits for the answer's status. Never rejects. */
export function upload({ url, key, bytes, leaveAfterMs }: Upload): Promise<UploadStatus> {
  const { hostname, port, host } = new URL(url);
  const length = BEFORE.length + bytes.length + AFTER.length;
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(
    `POST /v1/audio/transcriptions HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${length}\r\n` +
      `Connection: close\r\n\r\n${BEFORE}`,
  );
  socket.write(bytes);
  socket.write(AFTER);
  return new Promise((resolve) => {
    const end = (status: UploadStatus): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(status);
    };
    const timer = leaveAfterMs === null ? undefined : setTimeout(() => end(null), leaveAfterMs);
    // `HTTP/1.1 200`: twelve bytes that come in one piece.
    socket.once("data", (piece: Buffer) => end(Number(piece.toString("latin1", 9, 12))));
    socket.on("error", () => {});
    socket.on("close", () => end(0));
  });
}
