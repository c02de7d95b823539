import type { Command } from "commander";
import type { RunningServer } from "../server/start-server.ts";
import type { Settings } from "../settings/schema.ts";
import { type CommandIo, onOneLine, printLine, type Screen } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";
import { onStopSignal } from "./terminal/stop-signal.ts";

interface ServeFlags {
  readonly host?: string;
  readonly port?: string;
  readonly wyoming?: string;
  readonly pull: boolean;
}

/** Registers `antiphon serve`, which runs until SIGINT or SIGTERM, finishes current speech, and exits 0. */
export function registerServe(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("serve"))
    .description("run the server until it is stopped")
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--port <n>", "port to listen on; 0 picks a free one (default: 8080)")
    .option("--wyoming <host:port>", "also serve the Wyoming protocol, for Home Assistant and others")
    .option("--no-pull", "do not download missing models")
    .action(async ({ host, port, wyoming, pull }: ServeFlags, command: Command) => {
      const settings = await settingsOf(command, io, {
        host,
        port,
        wyoming,
        ...(pull ? {} : { pull: false }),
      });
      const { default: pino } = await import("pino");
      const { startFromSettings } = await import("../server/from-settings.ts");
      const { pullProgress } = await import("./terminal/progress.ts");
      // Standard output carries only requested output; the log goes to standard error.
      const log = io.stderr.isTTY ? readableLog(io.stderr) : pino.destination({ dest: 2, sync: false });
      const logger = pino({ level: settings.logLevel }, log);
      const hurry = new AbortController();
      let isDraining = false;
      const stopped = new Promise<void>((resolve) => {
        onStopSignal(
          () => resolve(),
          () => {
            hurry.abort();
            return isDraining;
          },
        );
      });
      try {
        const server = await startFromSettings(settings, {
          env: io.env,
          logger,
          openProgress: () => pullProgress(io.stderr),
          note: (sentence) => printLine(io.stderr, sentence),
        });
        const { firstKey, url, wyomingUrl } = server;
        if (firstKey !== null) io.stdout.write(`API key, shown this once: ${firstKey}\n`);
        io.stdout.write(`Antiphon is listening on ${url}\n`);
        if (wyomingUrl !== null) io.stdout.write(`Wyoming's clients find it at ${wyomingUrl}\n`);
        // Only a person at a terminal gets a link without giving a key.
        const linked = [firstKey ?? io.env.ANTIPHON_KEY ?? "", ...(io.stdout.isTTY ? [null] : [])];
        const talk = await talkLink(server, settings, linked);
        if (talk !== null) io.stdout.write(`Talk: ${talk.href}\n`);
        if (firstKey !== null) io.stdout.write(curlExample(url, firstKey));
        else io.stdout.write(`Keys: ${keyCommand(command)}\n`);
        const sayReady = (): void => {
          if (io.stdout.isTTY) io.stdout.write(`Ready: ${nextSteps(firstKey, talk)}\n`);
        };
        const isLoading = loadsLanguageModel(settings);
        if (!isLoading) sayReady();
        const preparing = server.prepare(isLoading ? sayReady : undefined);
        const leaving = new AbortController();
        if (io.stdout.isTTY) void printRepliesLine(settings, Number(new URL(url).port), leaving.signal, io);
        await stopped;
        leaving.abort();
        if (io.stderr.isTTY)
          io.stderr.write("Stopping: what is being spoken is finished first. Ctrl-C again stops it.\n");
        isDraining = true;
        await server.drain(hurry.signal);
        isDraining = false;
        await server.stop();
        await preparing;
      } finally {
        logger.flush();
      }
    });
}

/** Whether a language model has to be loaded first: the first reply would wait for it. */
function loadsLanguageModel({ writer: { kind, checkpoint } }: Settings): boolean {
  return kind === "gguf" || (kind === "embedded" && checkpoint !== undefined);
}

/** Prints which writer makes the replies and, if it is small talk, how to get a better one. */
async function printRepliesLine(
  settings: Settings,
  ownPort: number,
  signal: AbortSignal,
  io: CommandIo,
): Promise<void> {
  const { repliesLine } = await import("./replies-line.ts");
  const line = await repliesLine(settings, ownPort, signal);
  if (!signal.aborted) printLine(io.stdout, line);
}

/** Seconds for which the printed link can start conversations. */
const LINK_S = 7_200;

/**
 * Returns the page's address, with a secret for the first valid key (`null`: the server's oldest) in the fragment, which
 * browsers do not send.
 */
async function talkLink(
  server: Pick<RunningServer, "url" | "clientSecret">,
  { playground }: Pick<Settings, "playground">,
  keys: readonly (string | null)[],
): Promise<{ readonly href: string; readonly hasSecret: boolean } | null> {
  if (!playground.enabled) return null;
  let secret: string | null = null;
  for (const key of keys) secret ??= await server.clientSecret(key, LINK_S);
  const page = new URL(server.url);
  // Browsers allow the microphone for localhost.
  if (page.hostname === "0.0.0.0" || page.hostname === "[::]") page.hostname = "localhost";
  if (secret !== null) page.hash = `secret=${secret}`;
  return { href: page.href, hasSecret: secret !== null };
}

/** Returns what to do next. */
function nextSteps(firstKey: string | null, talk: { readonly hasSecret: boolean } | null): string {
  const hear = firstKey === null ? 'run npx antiphon say "Hello!"' : "paste the curl line";
  const paste = talk?.hasSecret === true ? "" : " and paste a key";
  return `${talk === null ? "" : `to talk, open the link${paste}; `}to hear a sentence, ${hear}.`;
}

/** Returns how to make a key for this server, which needs the same data directory. */
function keyCommand(command: Command): string {
  const { dataDir, config } = command.optsWithGlobals();
  const place = dataDir === undefined ? "" : ` --data-dir ${JSON.stringify(dataDir)}`;
  const file = config === undefined ? "" : ` --config ${JSON.stringify(config)}`;
  return `each was shown once; to make another, run npx antiphon keys create --label NAME${place}${file}`;
}

/** Returns a command to paste that speaks into hello.wav. */
function curlExample(url: string, key: string): string {
  return (
    "Try it:\n" +
    `  curl -s ${url}/v1/audio/speech -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' ` +
    `-d '{"model":"svc-beta-v0.3","voice":"0","input":"Hello! It is good to hear from you.","response_format":"wav"}' -o hello.wav\n`
  );
}

/** Log lines that the console leaves out, because `serve` prints the address itself. */
const ALREADY_PRINTED = /^Server listening at /;
/** Members left out of every line, because only programs need them. */
const OMITTED = new Set(["level", "time", "pid", "hostname", "msg", "err", "reqId"]);
const OMITTED_FROM_REQUESTS = new Set([...OMITTED, "method", "route", "status", "ms", "end"]);
/** Finished requests also omit their ids, which serve to look up failures. */
const OMITTED_IF_FINISHED = new Set([...OMITTED_FROM_REQUESTS, "request_id", "key_id", "trace_id"]);

type LogEvent = Readonly<Record<string, unknown>>;

/** Returns a log destination that shows JSON lines to people: `12:30:05 POST /v1/tts 200, 168 ms`. */
export function readableLog(screen: Screen): { write(line: string): void } {
  return {
    write(line) {
      const shown = formatLogLine(line);
      if (shown !== null) screen.write(`${shown}\n`);
    },
  };
}

/** Formats a log line for people, followed by the stack of an unexpected error; null if it says nothing new. */
export function formatLogLine(line: string): string | null {
  const event: LogEvent = JSON.parse(line);
  const { level, time, msg = "", err } = event;
  if (ALREADY_PRINTED.test(`${msg}`)) return null;
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const severity = Number(level) >= 50 ? "error: " : Number(level) >= 40 ? "warning: " : "";
  const [what, omitted] = msg === "request" ? [request(event), omittedFrom(event)] : [msg, OMITTED];
  const others = Object.entries(event).filter(([name]) => !omitted.has(name));
  const details = others.map(([name, value]) => ` ${name}=${formatValue(value)}`).join("");
  return `${at} ${severity}${onOneLine({ isTTY: true }, `${what}`)}${details}${formatStack(err)}`;
}

function request({ method, route, status, ms, end }: LogEvent): string {
  const how = end === "finished" ? "" : ` (${end})`;
  return `${[method, route, status].filter((part) => part !== undefined && part !== null).join(" ")}, ${ms} ms${how}`;
}

function omittedFrom({ end }: LogEvent): ReadonlySet<string> {
  return end === "finished" ? OMITTED_IF_FINISHED : OMITTED_FROM_REQUESTS;
}

function formatValue(value: unknown): string {
  return typeof value === "string" && /^\S+$/.test(value) ? value : JSON.stringify(value);
}

function formatStack(err: unknown): string {
  if (typeof err !== "object" || err === null) return "";
  const { stack, message } = err as LogEvent;
  return `\n${stack ?? message ?? ""}`.replaceAll("\n", "\n  ").trimEnd();
}
