import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { within } from "../../waiting.ts";

export interface Received {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: events are whatever was sent
  readonly data: any;
  readonly payload: Buffer;
}

/** A client of the Wyoming protocol that shares no code with the server. */
export class WyomingClient {
  readonly socket: Socket;
  readonly events: Received[] = [];
  #pending = Buffer.alloc(0);
  #isOver = false;
  #taken = 0;
  #onChange = (): void => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (piece: Buffer) => {
      this.#pending = Buffer.concat([this.#pending, piece]);
      while (this.#takeEvent());
      this.#onChange();
    });
    socket.on("error", () => {});
    for (const event of ["end", "close"]) {
      socket.on(event, () => {
        this.#isOver = true;
        this.#onChange();
      });
    }
  }

  static async open(url: string): Promise<WyomingClient> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    await within("a connection", once(socket, "connect"));
    return new WyomingClient(socket);
  }

  send(type: string, data: object = {}, payload: Uint8Array = new Uint8Array(0)): void {
    const json = Buffer.from(JSON.stringify(data));
    const header = JSON.stringify({
      type,
      version: "1.10.2",
      data_length: json.length,
      payload_length: payload.length,
    });
    this.socket.write(Buffer.concat([Buffer.from(`${header}\n`), json, payload]));
  }

  /** Returns the next unread event, or `null` at the end of the connection. */
  async next(): Promise<Received | null> {
    const wait = async (): Promise<Received | null> => {
      while (this.events.length <= this.#taken && !this.#isOver) {
        await new Promise<void>((resolve) => {
          this.#onChange = resolve;
        });
      }
      return this.events[this.#taken++] ?? null;
    };
    return await within("an event", wait());
  }

  /** Returns the events up to the first of this type. Fails if the connection ends before it. */
  async upTo(type: string): Promise<Received[]> {
    const found: Received[] = [];
    for (;;) {
      const event = await this.next();
      if (event === null)
        throw new Error(`no ${type} came, but ${found.map((each) => each.type).join(", ")}`);
      found.push(event);
      if (event.type === type) return found;
    }
  }

  /** Returns the other events once the server has ended the connection. */
  async rest(): Promise<Received[]> {
    const found: Received[] = [];
    for (let event = await this.next(); event !== null; event = await this.next()) found.push(event);
    return found;
  }

  close(): void {
    this.socket.destroy();
  }

  #takeEvent(): boolean {
    const end = this.#pending.indexOf("\n");
    if (end === -1) return false;
    const header = JSON.parse(this.#pending.toString("utf8", 0, end));
    const data = end + 1 + (header.data_length ?? 0);
    const payload = data + (header.payload_length ?? 0);
    if (this.#pending.length < payload) return false;
    this.events.push({
      type: header.type,
      data: data === end + 1 ? {} : JSON.parse(this.#pending.toString("utf8", end + 1, data)),
      payload: Buffer.from(this.#pending.subarray(data, payload)),
    });
    this.#pending = this.#pending.subarray(payload);
    return true;
  }
}

export function audioOf(events: readonly Received[]): Buffer {
  return Buffer.concat(events.filter(({ type }) => type === "audio-chunk").map(({ payload }) => payload));
}
