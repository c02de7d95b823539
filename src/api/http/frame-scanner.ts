/** Longest header of a client's frame: two bytes, an eight-byte length, a mask. */
const MAX_HEADER_BYTES = 14;

/**
 * Follows the frames of a WebSocket's client in the bytes as they arrive (RFC 6455, section 5.2). `ws` reports messages only
 * once they are complete; this knows how many frames came, and what is still on its way.
 */
export class FrameScanner {
  readonly #header = new Uint8Array(MAX_HEADER_BYTES);
  #headerBytes = 0;
  #payloadLeft = 0;
  #messageBytes = 0;
  #isMessageOpen = false;

  /** Bytes of the message on its way, as its frames declare them; 0 between messages. */
  get messageBytes(): number {
    return this.#messageBytes;
  }

  /** Whether a frame or a message is incomplete. */
  get isInside(): boolean {
    return this.#headerBytes > 0 || this.#payloadLeft > 0 || this.#isMessageOpen;
  }

  /** Returns how many frames began with these bytes. */
  push(bytes: Uint8Array): number {
    let frames = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#payloadLeft > 0) {
        const taken = Math.min(this.#payloadLeft, bytes.length - at);
        this.#payloadLeft -= taken;
        at += taken;
      } else {
        this.#header[this.#headerBytes++] = bytes[at++]!;
        if (!this.#isHeaderWhole) continue;
        frames += 1;
        this.#begin();
      }
      if (this.#payloadLeft === 0 && this.#headerBytes === 0 && !this.#isMessageOpen) this.#messageBytes = 0;
    }
    return frames;
  }

  get #lengthBytes(): number {
    const short = this.#header[1]! & 0x7f;
    return short === 127 ? 8 : short === 126 ? 2 : 0;
  }

  get #isHeaderWhole(): boolean {
    if (this.#headerBytes < 2) return false;
    const maskBytes = (this.#header[1]! & 0x80) === 0 ? 0 : 4;
    return this.#headerBytes === 2 + this.#lengthBytes + maskBytes;
  }

  #begin(): void {
    const [first = 0, second = 0] = this.#header;
    const isControl = (first & 0x08) !== 0;
    let length = 0;
    for (const byte of this.#header.subarray(2, 2 + this.#lengthBytes)) length = 256 * length + byte;
    this.#payloadLeft = this.#lengthBytes === 0 ? second & 0x7f : length;
    this.#headerBytes = 0;
    if (isControl) return;
    this.#messageBytes += this.#payloadLeft;
    this.#isMessageOpen = (first & 0x80) === 0;
  }
}
