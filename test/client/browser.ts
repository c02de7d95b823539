import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { TOP } from "../architecture/top.ts";
import { until, within } from "../waiting.ts";

/** The path of Chromium: `CHROMIUM`, or the first in the PATH. Empty if there is none. */
export const CHROMIUM: string =
  process.env.CHROMIUM ??
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
    .find((file) => existsSync(file)) ??
  "";

export const NEEDS_CHROMIUM = { skip: CHROMIUM === "" && "there is no Chromium" } as const;

export interface OpenPage {
  /** Returns the awaited value of an expression. */
  evaluate(expression: string): Promise<unknown>;
  /** Calls a method of Chromium's debugging protocol. */
  send(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>;
  /** Presses and releases a key by its name, such as `ArrowRight`. */
  press(key: string): Promise<void>;
}

/** Flags for a permitted microphone that repeats a WAV file. */
export const fakeMicrophone = (wavFile: string): readonly string[] => [
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  `--use-file-for-fake-audio-capture=${wavFile}`,
];

/** Opens an address in a headless Chromium while `use` runs. */
export async function inChromium<T>(
  url: string,
  use: (page: OpenPage) => Promise<T>,
  more: readonly string[] = [],
): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), "antiphon-browser-"));
  const flags = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    `--user-data-dir=${home}`,
  ];
  const own = ["--autoplay-policy=no-user-gesture-required", "--remote-debugging-pipe"];
  const child = spawn(CHROMIUM, [...flags, ...own, ...more], {
    env: { PATH: process.env.PATH ?? "", HOME: home },
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    detached: true,
  });
  const exit = once(child, "exit");
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  process.once("exit", kill);
  const early = exit.then(([code]) => Promise.reject(new Error(`Chromium ended with ${code}`)));
  early.catch(() => {});
  try {
    const over = openPage(child.stdio[3] as Writable, child.stdio[4] as Readable, url).then(use);
    return await within("the page", Promise.race([over, early]), { deadlineMs: 120_000 });
  } finally {
    process.off("exit", kill);
    kill();
    await exit;
    rmSync(home, { recursive: true, force: true, maxRetries: 9 });
  }
}

interface Message {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { message: string };
}

/** Speaks Chromium's debugging protocol: JSON, with a zero byte after each message. */
async function openPage(writable: Writable, readable: Readable, url: string): Promise<OpenPage> {
  const waiting = new Map<number, (message: Message) => void>();
  let rest = "";
  readable.setEncoding("utf8").on("data", (text: string) => {
    const messages = (rest + text).split("\0");
    rest = messages.pop()!;
    for (const message of messages.map((each): Message => JSON.parse(each)))
      waiting.get(message.id ?? -1)?.(message);
  });
  writable.on("error", () => {});
  let id = 0;
  const send = async (method: string, params: object, sessionId?: string) => {
    const mine = ++id;
    const reply = new Promise<Message>((resolve) => waiting.set(mine, resolve));
    writable.write(`${JSON.stringify({ id: mine, method, params, sessionId })}\0`);
    const { result, error } = await reply;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
  const { targetId } = await send("Target.createTarget", { url });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const sendToPage = (method: string, params: object = {}) => send(method, params, `${sessionId}`);
  const evaluate = async (expression: string) => {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result } = await sendToPage("Runtime.evaluate", params);
    return (result as { value?: unknown }).value;
  };
  const press = async (key: string) => {
    const code = { key, code: key === " " ? "Space" : key, windowsVirtualKeyCode: KEYS[key] ?? 0 };
    const text = { Enter: "\r", " ": " " }[key];
    await sendToPage("Input.dispatchKeyEvent", { type: "keyDown", ...code, ...(text ? { text } : {}) });
    await sendToPage("Input.dispatchKeyEvent", { type: "keyUp", ...code });
  };
  // A page's modules have run when it has loaded.
  const isLoaded = () => evaluate(`location.href !== "about:blank" && document.readyState === "complete"`);
  await until("the page to load", async () => (await isLoaded().catch(() => false)) === true);
  return { evaluate, send: sendToPage, press };
}

/** Virtual key codes of Windows, which Chromium uses. */
const KEYS: Readonly<Record<string, number>> = {
  Tab: 9,
  Enter: 13,
  Escape: 27,
  " ": 32,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
};

interface Target {
  readonly url: string;
  readonly key: string;
}

/** Runs a module in a page with the client at `/client/` and the server at `/v1/`; returns what it passes to `report`. */
export async function runInPage(server: Target, script: string, worklet = ""): Promise<unknown> {
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
    return await inChromium(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`, () => over);
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

async function forward(server: Target, request: IncomingMessage, response: ServerResponse): Promise<void> {
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
