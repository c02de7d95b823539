// Serves index.html and forwards the page's calls with the API key, which the page never sees.
//   ANTIPHON_KEY=ant_... node examples/browser/server.js [port]
// Before others can reach it, add a login: everyone who opens the page uses your key.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const [port = "3000"] = process.argv.slice(2);
const { BASE_URL = "http://127.0.0.1:8080", ANTIPHON_KEY = "" } = process.env;
const client = new URL(".", import.meta.resolve("antiphon/client"));
const page = new URL("index.html", import.meta.url);

createServer(async (request, response) => {
  const { method, url } = request;
  const module = /^\/client\/([\w-]+\.js)$/.exec(url)?.[1];
  try {
    if (method === "POST" && url === "/v1/converse/stream") await passOn(request, response);
    else if (module) await send(response, "text/javascript", new URL(module, client));
    else if (url === "/") await send(response, "text/html; charset=utf-8", page);
    else response.writeHead(404).end();
  } catch {
    response.destroy();
  }
}).listen(Number(port), "127.0.0.1", function () {
  console.log(`http://127.0.0.1:${this.address().port}`);
});

async function send(response, type, file) {
  response.writeHead(200, { "Content-Type": type }).end(await readFile(file));
}

async function passOn(request, response) {
  // If the page disconnects, the generation ends too.
  const leaving = new AbortController();
  response.once("close", () => leaving.abort());
  const reply = await fetch(BASE_URL + request.url, {
    method: "POST",
    headers: { Authorization: `Bearer ${ANTIPHON_KEY}`, "Content-Type": "application/json" },
    body: Readable.toWeb(request),
    duplex: "half",
    signal: leaving.signal,
  });
  const kept = ["content-type", "x-request-id", "retry-after", "retry-after-ms"];
  response.writeHead(
    reply.status,
    Object.fromEntries([...reply.headers].filter(([name]) => kept.includes(name))),
  );
  await pipeline(Readable.fromWeb(reply.body), response);
}
