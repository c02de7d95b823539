import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A chat endpoint on this machine that says the same at once, whatever it is asked. */
export interface ScriptedChat {
  readonly baseUrl: string;
  close(): Promise<void>;
}

export async function startScriptedChat(reply: string): Promise<ScriptedChat> {
  const choice = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const body = `${choice({ content: reply }, null)}${choice({}, "stop")}data: [DONE]\n\n`;
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
