import { Agent, request } from "node:http";

/** A server that is asked for speech. */
export interface SpeechServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rateHz: number;
  /** Bytes before the samples: 44 of a WAV file, 0 of raw PCM. */
  readonly headerBytes: number;
}

/** Reply to one request. Times are milliseconds since it was sent. */
export interface Reply {
  /** 0 if none came. */
  readonly status: number;
  readonly firstAudioMs: number | null;
  readonly doneMs: number;
  /** When each chunk came, and how many bytes of samples had come with it. */
  readonly chunks: readonly (readonly [ms: number, bytes: number])[];
  /** Mono, 16 bits; empty unless the status is 200. */
  readonly pcm: Int16Array;
  /** Why it is incomplete. */
  readonly failure: string | null;
  /** Body of a reply without sound; else empty. */
  readonly error: string;
}

export interface AskOptions {
  readonly timeoutMs?: number;
  /** Disconnects after this time. */
  readonly leaveAfterMs?: number;
}

/** {@link Reply.failure} of a request that took too long. */
export const TIMEOUT = "timeout";

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/** Sends a JSON body and reads the reply as it comes. Never rejects. */
export function ask(
  { url, headers, headerBytes }: Pick<SpeechServer, "url" | "headers" | "headerBytes">,
  body: string,
  { timeoutMs = 60_000, leaveAfterMs }: AskOptions = {},
): Promise<Reply> {
  const sentMs = performance.now();
  const pieces: Buffer[] = [];
  const chunks: [number, number][] = [];
  let [status, bytes] = [0, -headerBytes];
  return new Promise((resolve) => {
    const end = (failure: string | null): void => {
      clearTimeout(timer);
      const body = Buffer.concat(pieces);
      const sound = status === 200 ? body.subarray(headerBytes) : Buffer.alloc(0);
      const error = status === 200 ? "" : body.toString();
      // Copied, because samples need an even offset.
      const pcm = new Int16Array(Uint8Array.from(sound.subarray(0, sound.length & ~1)).buffer);
      const [firstAudioMs = null] = chunks[0] ?? [];
      resolve({ status, firstAudioMs, doneMs: performance.now() - sentMs, chunks, pcm, failure, error });
      if (failure !== null) sent.destroy();
    };
    const sent = request(url, {
      method: "POST",
      agent,
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers },
    });
    const timer = setTimeout(
      () => end(leaveAfterMs === undefined ? TIMEOUT : "left"),
      leaveAfterMs ?? timeoutMs,
    );
    sent.on("error", (error) => end(error.message));
    sent.on("response", (reply) => {
      status = reply.statusCode ?? 0;
      reply.on("data", (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        if (status === 200 && bytes > 0) chunks.push([performance.now() - sentMs, bytes]);
      });
      reply.on("end", () => end(null));
      reply.on("error", (error) => end(error.message));
    });
    sent.end(body);
  });
}

/** How often a player that starts 100 ms after the first audio runs out of sound. */
export function gapsIn({ chunks }: Reply, rateHz: number): number {
  const durationMs = (bytes: number) => (bytes / 2 / rateHz) * 1_000;
  let startMs = (chunks[0]?.[0] ?? 0) + 100;
  let gaps = 0;
  chunks.slice(1).forEach(([ms], index) => {
    const lateMs = ms - startMs - durationMs(chunks[index]![1]);
    if (lateMs <= 0) return;
    gaps += 1;
    startMs += lateMs;
  });
  return gaps;
}

/** First and last audible second of a sound: 10 ms count as audible above -40 dB of the loudest 10 ms. */
export function audibleSpan(
  pcm: Int16Array,
  rateHz: number,
): { readonly fromS: number; readonly toS: number } {
  const size = Math.round(rateHz / 100);
  const powers = Array.from({ length: Math.floor(pcm.length / size) }, (_, at) =>
    pcm.subarray(at * size, (at + 1) * size).reduce((sum, value) => sum + value * value, 0),
  );
  const floor = 1e-4 * Math.max(0, ...powers);
  const isAudible = (power: number) => power > floor;
  return {
    fromS: Math.max(0, powers.findIndex(isAudible)) / 100,
    toS: (powers.findLastIndex(isAudible) + 1) / 100,
  };
}
