import pg, { type Client, type ClientConfig } from "pg";

/**
 * Asks the database, over another connection, to give up what a client's is doing; else it would go on waiting, as for a
 * lock or for a standby, although nobody listens any more. It may come too late, or not arrive: nothing hangs on it.
 * Resolves when it has been sent and heard, or its time is over.
 */
export async function cancelled(client: Client, config: ClientConfig, maxMs: number): Promise<void> {
  const { processID, secretKey } = client as unknown as {
    processID: number | null;
    secretKey: number | null;
  };
  if (processID === null || secretKey === null) return;
  const { ssl, host = "", port = 5432 } = config;
  const connection = new pg.Connection({ ssl } as ConstructorParameters<
    typeof pg.Connection
  >[0]) as CancelConnection;
  await new Promise<void>((resolve) => {
    const overdue = setTimeout(() => connection.stream.destroy(), maxMs);
    connection.on("end", () => {
      clearTimeout(overdue);
      resolve();
    });
    connection.on("error", () => connection.stream.destroy());
    connection.on("connect", () => {
      if (ssl) connection.requestSsl();
      else connection.cancel(processID, secretKey);
    });
    connection.on("sslconnect", () => connection.cancel(processID, secretKey));
    if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}

/** What the types leave out. */
interface CancelConnection extends pg.Connection {
  connect(portOrSocket: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}
