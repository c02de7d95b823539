import type { RealtimeEvent, ReplyPlayerEvents } from "../../src/client/realtime.ts";

/** A WebSocket whose server is the test. */
export class FakeSocket {
  static last: FakeSocket;
  readonly url: string;
  readonly protocols: string[];
  readonly sent: RealtimeEvent[] = [];
  readyState = 1;
  onopen: unknown;
  onmessage: unknown;
  onclose: unknown;
  onerror: unknown;

  constructor(url: string, protocols: string[]) {
    [this.url, this.protocols] = [url, protocols];
    FakeSocket.last = this;
    queueMicrotask(() => (this.onopen as () => void)());
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.readyState = 3;
  }

  tell(...events: RealtimeEvent[]): void {
    for (const event of events) this.say(JSON.stringify(event));
  }

  say(data: unknown): void {
    (this.onmessage as (message: { data: unknown }) => void)({ data });
  }

  types(): string[] {
    return this.sent.map(({ type }) => type);
  }
}

/** A player whose position the test sets. */
export class FakePlayer {
  positionS = 0;
  samples = 0;
  isComplete = false;
  isStopped = false;
  readonly events: ReplyPlayerEvents;

  constructor(events: ReplyPlayerEvents) {
    this.events = events;
  }

  add(pcm: Int16Array): void {
    this.samples += pcm.length;
  }

  complete(): void {
    this.isComplete = true;
  }

  stop(): void {
    this.isStopped = true;
    this.positionS = 0;
    this.events.onEnd();
  }
}
