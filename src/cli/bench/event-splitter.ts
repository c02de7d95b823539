/** Cuts a stream of server-sent events where they end, however the bytes come. */
export class EventSplitter {
  readonly #onEvent: (event: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  /** @param onEvent gets each event's lines, without the empty one that ends it. */
  constructor(onEvent: (event: Buffer) => void) {
    this.#onEvent = onEvent;
  }

  push(bytes: Buffer): void {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const event = rest.subarray(0, end);
      rest = rest.subarray(end + 2);
      this.#onEvent(event);
    }
    this.#rest = rest;
  }
}

const AUDIO = Buffer.from("event: audio\n");
const ERROR = Buffer.from("event: error\n");

export function isAudio(event: Buffer): boolean {
  return startsWith(event, AUDIO);
}

export function isError(event: Buffer): boolean {
  return startsWith(event, ERROR);
}

/** The level of an `audio` event's samples: their root mean square, 1 being full scale. */
export function audioRms(event: Buffer): number {
  const data = event.toString("latin1", event.indexOf("\ndata: ") + 7);
  const { pcm_b64 } = JSON.parse(data) as { pcm_b64: string };
  const pcm = Buffer.from(pcm_b64, "base64");
  let sum = 0;
  for (let at = 0; at + 1 < pcm.length; at += 2) sum += pcm.readInt16LE(at) ** 2;
  return Math.sqrt(sum / Math.max(1, pcm.length >> 1)) / 32_768;
}

function startsWith(event: Buffer, prefix: Buffer): boolean {
  return event.length >= prefix.length && prefix.compare(event, 0, prefix.length) === 0;
}
