/** One server-sent event: its name and its data. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** An event that is longer is none. The last one holds every word of a reply. */
const MAX_BYTES = 8 * 2 ** 20;
const END = Buffer.from("\n\n");

/** Takes server-sent events apart, as an Antiphon writes them, whatever pieces they come in. Comments are left out. */
export class EventReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The events that are complete now. Throws RangeError for one without end. */
  push(bytes: Uint8Array): ServerEvent[] {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // An end may lie across two pieces.
    const looked = Math.max(0, this.#rest.length - END.length + 1);
    const all = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const events: ServerEvent[] = [];
    let from = 0;
    for (let end = all.indexOf(END, looked); end >= 0; end = all.indexOf(END, from)) {
      const event = parsed(all.toString("utf8", from, end));
      if (event !== null) events.push(event);
      from = end + END.length;
    }
    if (all.length - from > MAX_BYTES) throw new RangeError("an event without end");
    this.#rest = from === all.length ? Buffer.alloc(0) : Buffer.from(all.subarray(from));
    return events;
  }
}

function parsed(block: string): ServerEvent | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) event = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return data.length === 0 ? null : { event, data: data.join("\n") };
}
