import { connect, type Socket } from "node:net";
import { ReplyParser } from "../load/reply-parser.ts";
import type { HostileGroup, Outcome } from "./hostile-job.ts";

/** A client that sends less or reads less than it should. It keeps its connection where that is of use. */
export class HostileClient {
  readonly #url: URL;
  readonly #group: HostileGroup;
  #socket: Socket | null = null;
  #exchange: Exchange | null = null;

  constructor(url: string, group: HostileGroup) {
    this.#url = new URL(url);
    this.#group = group;
  }

  /** Sends a request, or some of it, and resolves when that has ended. Never rejects. */
  async request(body: Buffer): Promise<Outcome> {
    const { key, path } = this.#group;
    const head =
      `POST ${path} HTTP/1.1\r\nHost: ${this.#url.host}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const socket = this.#connected();
    const exchange = new Exchange(socket, this.#group);
    this.#exchange = exchange;
    socket.write(head);
    exchange.send(body);
    const outcome = await exchange.ended;
    this.#exchange = null;
    if (!exchange.isReusable(body)) this.close();
    return outcome;
  }

  close(): void {
    this.#exchange?.end("cut");
    this.#socket?.destroy();
    this.#socket = null;
  }

  #connected(): Socket {
    if (this.#socket !== null && !this.#socket.destroyed) return this.#socket;
    const parser = new ReplyParser({
      onStatus: (status) => this.#exchange?.onStatus(status),
      onBody: () => {},
      onEnd: () => this.#exchange?.onEnd(),
    });
    const socket = connect({
      host: this.#url.hostname,
      port: Number(this.#url.port),
      onread: {
        buffer: () => (this.#exchange?.status === null ? STATUS_LINE : PIECE),
        callback: (count, bytes) => {
          const piece = Buffer.from(bytes.buffer, bytes.byteOffset, count);
          // The parser wants a whole line; of a reply that nobody reads no more than this has come.
          if (this.#exchange?.status === null)
            this.#exchange.onStatus(Number(piece.toString("latin1", 9, 12)));
          if (this.#exchange?.isUnread === true) return false;
          parser.push(piece);
          return true;
        },
      },
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      if (this.#socket === socket) this.#exchange?.onClose();
    });
    this.#socket = socket;
    return socket;
  }
}

/** `HTTP/1.1 200`. */
const STATUS_LINE = Buffer.alloc(12);
const PIECE = Buffer.alloc(64 * 1024);
/** A request of which half has been sent is reset after this long, should the server not take it in. */
const RESET_MS = 1_000;
const DRIP_MS = 1_000;

class Exchange {
  readonly #socket: Socket;
  readonly #group: HostileGroup;
  readonly #timers: NodeJS.Timeout[] = [];
  #settle = (_outcome: Outcome): void => {};
  status: number | null = null;

  readonly ended = new Promise<Outcome>((resolve) => {
    this.#settle = resolve;
  });

  constructor(socket: Socket, group: HostileGroup) {
    this.#socket = socket;
    this.#group = group;
  }

  send(body: Buffer): void {
    const { sends, holdMs } = this.#group;
    if (sends === "all") this.#socket.write(body);
    else if (sends === "half") {
      const reset = (): void => {
        this.#socket.resetAndDestroy();
        this.end("reset");
      };
      this.#socket.write(body.subarray(0, body.length / 2), reset);
      this.#timers.push(setTimeout(reset, RESET_MS));
    } else {
      let at = body.length - Math.ceil(holdMs / DRIP_MS) - 1;
      this.#socket.write(body.subarray(0, at));
      this.#timers.push(
        setInterval(() => this.#socket.write(body.subarray(at, ++at)), DRIP_MS),
        setTimeout(() => this.end("held"), holdMs),
      );
    }
  }

  /** Whether what comes now is not read. */
  get isUnread(): boolean {
    return this.status === 200 && this.#group.reads === "nothing";
  }

  onStatus(status: number): void {
    if (this.status !== null) return;
    this.status = status;
    if (this.isUnread) this.#timers.push(setTimeout(() => this.end("held"), this.#group.holdMs));
  }

  onEnd(): void {
    this.end(this.status === 200 ? "finished" : `status ${this.status ?? 0}`);
  }

  onClose(): void {
    this.end(this.status === null || this.status === 200 ? "cut" : `status ${this.status}`);
  }

  end(outcome: Outcome): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    this.#settle(outcome);
  }

  /** What was refused in the middle of a large body would first have to be sent to its end. */
  isReusable(body: Buffer): boolean {
    const isWhole = this.#group.sends === "all" && body.length < 64 * 1024;
    return isWhole && this.status !== null && !this.isUnread;
  }
}
