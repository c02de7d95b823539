import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { within } from "../waiting.ts";

/** A stretch of network between a server and its database that a test can spoil. */
export interface TcpProxy {
  readonly port: number;
  /** Lets nothing through, either way, without a word to either side. What is sent meanwhile comes later, as by TCP. */
  hold(): void;
  /** Lets everything to the database, and nothing back. */
  holdAnswers(): void;
  /** Ends all connections. */
  cut(): void;
  /** Forgets all connections: neither side hears of it, and nothing that is sent over them arrives. */
  forget(): void;
  /** Ends the connection whose answer would hold these words next, in its place. */
  cutBefore(words: string): void;
  /** Leads new connections to another port. */
  lead(targetPort: number): void;
  /** Lets everything through, after a delay each way. */
  pass(delayMs?: number): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
}

/** Starts one on 127.0.0.1 that leads to a port there. */
export async function startProxy(firstPort: number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  const forgotten = new Set<Pair>();
  let held = { questions: false, answers: false };
  let delayMs = 0;
  let fatal: string | null = null;
  let targetPort = firstPort;

  function forward(from: Socket, to: Socket, isHeld: () => boolean, isAnswer: boolean): void {
    const waiting: Buffer[] = [];
    const flush = () => {
      if (!isHeld()) for (const chunk of waiting.splice(0)) to.write(chunk);
    };
    from.on("data", (chunk: Buffer) => {
      if (fatal !== null && chunk.includes(fatal) && isAnswer) {
        fatal = null;
        from.destroy();
        return;
      }
      waiting.push(chunk);
      if (delayMs === 0) flush();
      else setTimeout(flush, delayMs);
    });
    from.on("resume-held", flush);
    from.on("close", () => {
      if (!isHeld()) to.destroy();
    });
    from.on("error", () => {});
  }

  function cut(): void {
    for (const { client, target } of [...pairs, ...forgotten])
      for (const socket of [client, target]) socket.destroy();
  }

  function release(): void {
    for (const { client, target } of pairs) {
      for (const socket of [client, target]) socket.emit("resume-held");
      if (client.destroyed || target.destroyed) for (const socket of [client, target]) socket.destroy();
    }
  }

  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    const pair = { client, target };
    pairs.add(pair);
    forward(client, target, () => held.questions, false);
    forward(target, client, () => held.answers, true);
    target.on("close", () => pairs.delete(pair));
  }).listen(0, "127.0.0.1");
  await within("the proxy's port", once(server, "listening"));

  return {
    port: (server.address() as { port: number }).port,
    hold() {
      held = { questions: true, answers: true };
    },
    holdAnswers() {
      held = { questions: false, answers: true };
    },
    cut,
    forget() {
      for (const pair of pairs) {
        for (const socket of [pair.client, pair.target]) socket.removeAllListeners("data").pause();
        forgotten.add(pair);
      }
      pairs.clear();
    },
    cutBefore(words) {
      fatal = words;
    },
    lead(port) {
      targetPort = port;
    },
    pass(newDelayMs = 0) {
      held = { questions: false, answers: false };
      delayMs = newDelayMs;
      release();
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The same address by another port. */
export function through({ port }: Pick<TcpProxy, "port">, url: string): string {
  const moved = new URL(url);
  moved.port = `${port}`;
  return moved.href;
}
