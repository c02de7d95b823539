import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { TOP, temporaryFolder } from "../e2e/folders.ts";
import { launch, newcomersEnvironment } from "../e2e/program.ts";
import type { TestServer } from "../http/start.ts";
import { within } from "../waiting.ts";

/** A Chromium of this machine: `ANTIPHON_TEST_CHROMIUM`, or the first in the path; null where there is none. */
export const CHROMIUM: string | null =
  process.env.ANTIPHON_TEST_CHROMIUM ??
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
    .find((file) => existsSync(file)) ??
  null;

/** What a test that needs one is told where there is none. */
export const NEEDS_CHROMIUM = { skip: CHROMIUM === null && "there is no Chromium on this machine" } as const;

/** Opens an address in a headless Chromium until `over` has settled, and gives what that gave. */
export async function inChromium<T>(url: string, over: Promise<T>): Promise<T> {
  const home = temporaryFolder();
  const flags = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    `--user-data-dir=${home}/user`,
  ];
  const child = launch(CHROMIUM!, [...flags, "--autoplay-policy=no-user-gesture-required", url], {
    env: { ...newcomersEnvironment(), HOME: home },
    stdio: "ignore",
  });
  const exit = once(child, "exit");
  try {
    const early = exit.then(([code]) => Promise.reject(new Error(`Chromium ended with ${code}`)));
    early.catch(() => {});
    return await within("the page", Promise.race([over, early]), { deadlineMs: 60_000 });
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    await exit;
  }
}

/**
 * Runs a module in a page and gives what it reports: the value of its `report(value)`. The page has the client's modules
 * at `/client/`, and `/v1/` is forwarded to `server` with its key.
 */
export async function runInPage(server: TestServer, script: string, worklet = ""): Promise<unknown> {
  let reported: (value: unknown) => void = () => {};
  const over = new Promise<unknown>((resolve) => {
    reported = resolve;
  });
  const pages: Readonly<Record<string, readonly [string, string]>> = {
    "/": ["text/html", '<!doctype html><script type="module" src="/page.js"></script>'],
    "/page.js": [
      "text/javascript",
      `${REPORT}\ntry {\n${script}\n} catch (error) { report({ error: \`\${error.stack}\` }); }`,
    ],
    "/worklet.js": ["text/javascript", worklet],
  };
  const http = createServer(async (request, response) => {
    const path = request.url ?? "";
    if (path === "/report") {
      reported(JSON.parse((await bodyOf(request)).toString()));
      response.end();
    } else if (path.startsWith("/v1/")) await forward(server, request, response);
    else if (path.startsWith("/client/")) {
      response.setHeader("Content-Type", "text/javascript");
      response.end(readFileSync(join(TOP, "dist/src", path)));
    } else {
      const [type, content] = pages[path] ?? ["text/plain", ""];
      response.setHeader("Content-Type", type);
      response.end(content);
    }
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  try {
    return await inChromium(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`, over);
  } finally {
    http.closeAllConnections();
    http.close();
  }
}

const REPORT = `
const report = (value) => fetch("/report", { method: "POST", body: JSON.stringify(value) });
import("/client/antiphon.js").catch((error) => report({ error: \`\${error}\` }));
`;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function forward(
  server: TestServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const leaving = new AbortController();
  response.once("close", () => leaving.abort());
  const body = request.method === "POST" ? { body: new Uint8Array(await bodyOf(request)) } : {};
  const reply = await fetch(server.url + request.url, {
    method: request.method ?? "GET",
    headers: { Authorization: `Bearer ${server.key}`, "Content-Type": request.headers["content-type"] ?? "" },
    signal: leaving.signal,
    ...body,
  });
  response.writeHead(reply.status, { "Content-Type": reply.headers.get("content-type") ?? "" });
  try {
    for await (const chunk of reply.body!) response.write(chunk);
    response.end();
  } catch {
    response.destroy();
  }
}
