import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { within } from "../waiting.ts";

/** A faulty network between a server and its database. */
export interface TcpProxy {
  readonly port: number;
  /** Delays everything, both ways, until `pass`. */
  hold(): void;
  /** Delays everything from the database. */
  holdAnswers(): void;
  cut(): void;
  /** Drops all connections silently: neither side is informed. */
  forget(): void;
  /** Ends the connection whose next answer contains these words, instead of forwarding it. */
  cutBefore(words: string): void;
  /** Sends new connections to another port. */
  lead(targetPort: number): void;
  /** Forwards everything, after a delay each way. */
  pass(delayMs?: number): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
}

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

/** Returns the address with the proxy's port. */
export function through({ port }: Pick<TcpProxy, "port">, url: string): string {
  const moved = new URL(url);
  moved.port = `${port}`;
  return moved.href;
}
