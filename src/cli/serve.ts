import type { Command } from "commander";
import type { RunningServer } from "../server/start-server.ts";
import type { Settings } from "../settings/schema.ts";
import type { CommandIo } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";
import { printLine } from "./terminal/safe-screen.ts";

interface ServeFlags {
  readonly host?: string;
  readonly port?: string;
  readonly wyoming?: string;
  readonly pull: boolean;
}

/** `antiphon serve`: runs the service until SIGINT or SIGTERM, finishes what is being spoken, and exits 0. */
export function registerServe(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("serve"))
    .description("run the server until it is stopped")
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--port <n>", "port to listen on; 0 takes a free one (default: 8080)")
    .option("--wyoming <host:port>", "also serve the Wyoming protocol there, for Home Assistant and others")
    .option("--no-pull", "do not fetch models that are missing")
    .action(async ({ host, port, wyoming, pull }: ServeFlags, command: Command) => {
      const settings = await settingsOf(command, io, {
        host,
        port,
        wyoming,
        ...(pull ? {} : { pull: false }),
      });
      const { default: pino } = await import("pino");
      const { startFromSettings } = await import("../server/from-settings.ts");
      const { readableLog } = await import("./terminal/readable-log.ts");
      const { pullProgress } = await import("./terminal/pull-progress.ts");
      const { onStopSignal } = await import("./terminal/stop-signal.ts");
      // Standard output is for what a person or a script asked for; the log goes beside it.
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
        const talk = await talkLink(server, settings, firstKey ?? io.env.ANTIPHON_KEY ?? "");
        if (talk !== null) io.stdout.write(`Talk: ${talk}\n`);
        if (firstKey !== null) io.stdout.write(tryIt(url, firstKey));
        const sayReady = (): void => {
          if (io.stdout.isTTY) io.stdout.write(`Ready: ${whatNow(url, firstKey, talk)}\n`);
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

/** Whether a language model is to be loaded here: its first reply would wait for that. */
function loadsLanguageModel({ writer: { kind, checkpoint } }: Settings): boolean {
  return kind === "gguf" || (kind === "embedded" && checkpoint !== undefined);
}

/** Prints what writes the replies, or could. */
async function printRepliesLine(
  settings: Settings,
  ownPort: number,
  signal: AbortSignal,
  io: CommandIo,
): Promise<void> {
  const { repliesLine } = await import("./terminal/replies-line.ts");
  const line = await repliesLine(settings, ownPort, signal);
  if (!signal.aborted) printLine(io.stdout, line);
}

/** How long the link that is printed opens conversations, in seconds. */
const LINK_S = 7_200;

/** Opens the page with a client secret in place of a key; what is behind the `#` leaves no browser. Null without a key. */
async function talkLink(
  server: Pick<RunningServer, "url" | "clientSecret">,
  { playground }: Pick<Settings, "playground">,
  key: string,
): Promise<string | null> {
  const secret = playground.enabled ? await server.clientSecret(key, LINK_S) : null;
  if (secret === null) return null;
  const page = new URL(server.url);
  // Browsers lend a microphone to the machine itself, by a name that says so.
  if (page.hostname === "0.0.0.0" || page.hostname === "[::]") page.hostname = "localhost";
  page.hash = `secret=${secret}`;
  return page.href;
}

/** What a person does next. */
function whatNow(url: string, firstKey: string | null, talk: string | null): string {
  const hear = firstKey === null ? 'run npx antiphon say "Hello!"' : "paste the curl line";
  return `to talk, open ${talk === null ? `${url} and paste a key` : "the link"}; to hear a sentence, ${hear}.`;
}

/** A line to paste: it speaks into hello.wav. */
function tryIt(url: string, key: string): string {
  return (
    "Try it:\n" +
    `  curl -s ${url}/v1/audio/speech -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' ` +
    `-d '{"model":"svc-beta-v0.3","voice":"0","input":"Hello! It is good to hear from you.","response_format":"wav"}' -o hello.wav\n`
  );
}
