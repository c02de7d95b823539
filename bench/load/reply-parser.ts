/** Who hears of a reply as it comes in. */
export interface ReplyListener {
  onStatus(status: number): void;
  /** A piece of the body, valid during the call. */
  onBody(bytes: Buffer): void;
  /** The reply is complete; another may follow on the same connection. */
  onEnd(): void;
}

type State = "status" | "headers" | "counted" | "size" | "chunk" | "chunk end" | "trailers";

/**
 * Reads HTTP/1.1 replies (RFC 9112) off a connection, with a length or in chunks, however the bytes are cut. It checks
 * next to nothing: it is there to cost a measurement next to nothing.
 */
export class ReplyParser {
  readonly #listener: ReplyListener;
  #state: State = "status";
  #line = "";
  #isChunked = false;
  /** Bytes of the body, or of its current chunk, still to come. */
  #left = 0;

  constructor(listener: ReplyListener) {
    this.#listener = listener;
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === "counted" || this.#state === "chunk") {
        const count = Math.min(this.#left, bytes.length - at);
        this.#takeBody(bytes.subarray(at, at + count));
        at += count;
        continue;
      }
      const end = bytes.indexOf(LINE_FEED, at);
      this.#line += bytes.toString("latin1", at, end < 0 ? bytes.length : end);
      if (end < 0) return;
      at = end + 1;
      const line = this.#line.trimEnd();
      this.#line = "";
      this.#takeLine(line);
    }
  }

  #takeBody(bytes: Buffer): void {
    this.#left -= bytes.length;
    this.#listener.onBody(bytes);
    if (this.#left > 0) return;
    if (this.#state === "chunk") this.#state = "chunk end";
    else this.#end();
  }

  #takeLine(line: string): void {
    switch (this.#state) {
      case "status":
        this.#state = "headers";
        this.#isChunked = false;
        this.#left = 0;
        this.#listener.onStatus(Number(line.split(" ")[1]));
        break;
      case "headers":
        this.#takeHeader(line);
        break;
      case "size":
        this.#left = Number.parseInt(line, 16);
        this.#state = this.#left > 0 ? "chunk" : "trailers";
        break;
      case "trailers":
        if (line === "") this.#end();
        break;
      default:
        this.#state = "size";
    }
  }

  #takeHeader(line: string): void {
    if (line !== "") {
      const [name = "", value = ""] = line.toLowerCase().split(": ");
      if (name === "content-length") this.#left = Number(value);
      else if (name === "transfer-encoding") this.#isChunked = value.includes("chunked");
    } else if (this.#isChunked) this.#state = "size";
    else if (this.#left > 0) this.#state = "counted";
    else this.#end();
  }

  #end(): void {
    this.#state = "status";
    this.#listener.onEnd();
  }
}

const LINE_FEED = 10;
