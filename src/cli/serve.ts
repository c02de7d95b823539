import type { Command } from "commander";
import type { PublicModel } from "../catalogue/public-models.ts";
import type { OwnPlaces } from "../serving/admissions.ts";
import type { Settings } from "../settings/schema.ts";
import type { Tenancy } from "../tenancy/tenancy.ts";
import type { ServerParts } from "./compose.ts";
import { addGlobalOptions, settingsOf } from "./global-options.ts";
import { onStopSignal } from "./stop-signal.ts";

interface ServeFlags {
  readonly host?: string;
  readonly port?: string;
  readonly wyoming?: string;
  readonly pull: boolean;
}

/** `antiphon serve`: runs the service until SIGINT or SIGTERM, finishes what is being spoken, and exits 0. */
export function registerServe(program: Command): void {
  addGlobalOptions(program.command("serve"))
    .description("run the server until it is stopped")
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--port <n>", "port to listen on; 0 takes a free one (default: 8080)")
    .option("--wyoming <host:port>", "also serve the Wyoming protocol there, for Home Assistant and others")
    .option("--no-pull", "do not fetch models that are missing")
    .action(async ({ host, port, wyoming: bridge, pull }: ServeFlags, command: Command) => {
      const settings = await settingsOf(command, {
        host,
        port,
        wyoming: bridge,
        ...(pull ? {} : { pull: false }),
      });
      const { default: pino } = await import("pino");
      const { startServer } = await import("./compose.ts");
      const { workerCount } = await import("./capacity.ts");
      const { embeddedVoice } = await import("./embedded-voice.ts");
      const { openTenancy } = await import("../tenancy/open.ts");
      const { houseWords } = await import("./lexicon-file.ts");
      const words = await houseWords(settings);
      const { wyomingPlace } = await import("./wyoming-place.ts");
      const wyoming = wyomingPlace(settings, process.env);
      // Standard output is for what a person or a script asked for; the log goes beside it.
      const logger = pino({ level: settings.logLevel }, pino.destination({ dest: 2, sync: false }));
      const { offeredModels } = await import("../catalogue/offered-models.ts");
      const { remoteCheckpoints } = await import("./remote-checkpoints.ts");
      const { codecLmCheckpoints } = await import("./codec-lm-checkpoints.ts");
      const local = await codecLmCheckpoints(settings, {
        onEvent: (checkpoint, event) =>
          logger[event.kind === "recovered" ? "info" : "warn"]({ checkpoint, ...event }, "speech thread"),
      });
      const models = offeredModels(settings, new Map(local.map(({ name, voice }) => [name, voice])));
      const remotes = remoteCheckpoints(settings, {
        env: process.env,
        onEvent: (event) =>
          logger[event.kind === "recovered" ? "info" : "warn"](event, "remote speech model"),
      });
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
      const ending = new AbortController();
      let isSpeaking = () => false;
      const { serverWriter } = await import("./server-writer.ts");
      const writer = await serverWriter(settings, ending.signal, () => !isSpeaking());
      const { serverRecogniser } = await import("./server-recogniser.ts");
      const recogniser = await serverRecogniser(settings, ending.signal, logger);
      const { storeUrl: storeUrlOf } = await import("./shared-urls.ts");
      // Before the buckets: their connection would keep the process alive after this had thrown.
      const storeUrl = storeUrlOf(settings, process.env);
      const { serverBuckets } = await import("./server-buckets.ts");
      const { buckets, takesAlone } = await serverBuckets(settings, process.env, logger);
      const tenancy = await openTenancy(settings, {
        storeUrl,
        buckets,
        onFailure: (message) => logger.error({ cause: message }, "database failed"),
        onRecovery: (message) => logger.info({ cause: message }, "database recovered"),
      });
      try {
        const threads = workerCount(settings);
        const voice = embeddedVoice({ threads, readings: settings.readings, words }, (event) => {
          logger[event.kind === "recovered" ? "info" : "warn"](event, "speech thread");
        });
        const server = await startServer({
          settings,
          tenancy,
          models,
          checkpoints: [voice, ...remotes, ...local],
          ownPlaces: new Map<string, OwnPlaces>([
            ...remotes.map(({ name, places }) => [name, { places, isKept: false }] as const),
            ...local.map(({ name, places }) => [name, { places, isKept: true }] as const),
          ]),
          writer,
          recogniser,
          backend: backendOf(
            models,
            voice.name,
            local.map(({ name }) => name),
          ),
          speechThreads: () =>
            local.reduce((sum, one) => sum + (one.pool()?.stats().ready ?? 0), voice.threads()),
          canSpeak: () => voice.canSpeak() || local.some((one) => one.pool()?.stats().ready === 1),
          canHear: () => recogniser?.isFound ?? false,
          takesAlone,
          wyoming,
          logger,
        });
        isSpeaking = () => server.isSpeaking();
        const key = await firstKey(tenancy, settings).catch(async (error: unknown) => {
          await server.stop();
          throw error;
        });
        if (key !== null) process.stdout.write(`API key, shown this once: ${key}\n`);
        process.stdout.write(`Antiphon is listening on ${server.url}\n`);
        if (server.wyomingUrl !== null)
          process.stdout.write(`Wyoming's clients find it at ${server.wyomingUrl}\n`);
        if (key !== null) process.stdout.write(tryIt(server.url, key));
        const preparing = announced(
          [
            [writer, "Authored turns cannot be written"],
            [recogniser, "Recordings cannot be heard"],
          ],
          ending.signal,
        );
        await stopped;
        isDraining = true;
        await server.drain(hurry.signal);
        isDraining = false;
        ending.abort(new Error("the server stops"));
        await server.stop();
        await preparing;
      } finally {
        // Its thread would keep the process alive after a start that came to nothing.
        await tenancy.close();
        logger.flush();
      }
    });
}

/** Who speaks for the default model. */
function backendOf(
  models: readonly PublicModel[],
  embedded: string,
  local: readonly string[],
): ServerParts["backend"] {
  const name = models.find(({ card }) => card.isDefault)?.checkpoint ?? embedded;
  if (name === embedded) return { name, kind: "parametric" };
  return { name, kind: local.includes(name) ? "codec-lm" : "remote" };
}

/** Makes one ready after the other, and says what cannot be done without: the server speaks given words all the same. */
async function announced(
  parts: readonly (readonly [part: { prepare(): Promise<void> } | null, without: string])[],
  signal: AbortSignal,
): Promise<void> {
  const { inFull } = await import("./in-full.ts");
  for (const [part, without] of parts) {
    if (signal.aborted) return;
    try {
      await part?.prepare();
    } catch (error) {
      process.stderr.write(`${without}: ${inFull(error)}\n`);
    }
  }
}

/**
 * A key where there is none, or null; of servers that begin together on one database, one makes it. Made last, so that a
 * start that fails does not use it up.
 */
async function firstKey(tenancy: Tenancy, settings: Settings): Promise<string | null> {
  if ((await tenancy.listKeys()).length > 0) return null;
  const { defaultKeyRpm: rpm, defaultKeyBurst: burst } = settings;
  return (await tenancy.createFirstKey({ label: "first key", rpm, burst }))?.key ?? null;
}

/** A line to paste: it speaks into hello.wav. */
function tryIt(url: string, key: string): string {
  return (
    "Try it:\n" +
    `  curl -s ${url}/v1/audio/speech -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' ` +
    `-d '{"model":"svc-beta-v0.3","voice":"0","input":"Hello! It is good to hear from you.","response_format":"wav"}' -o hello.wav\n`
  );
}
