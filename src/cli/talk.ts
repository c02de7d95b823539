import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import type { RealtimeConversation } from "../client/realtime.ts";
import { UsageError } from "../server/usage-error.ts";
import type { Settings } from "../settings/schema.ts";
import type { CommandIo } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";
import { printLine } from "./terminal/safe-screen.ts";

interface TalkFlags {
  readonly url?: string;
  readonly voice?: string;
  readonly model?: string;
  readonly instructions?: string;
  readonly loudspeaker?: boolean;
}

/** `antiphon talk`: a spoken conversation in a terminal, until it is interrupted. */
export function registerTalk(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("talk"))
    .description("hold a spoken conversation through this machine's microphone")
    .option("--url <url>", "server to use, with the key in ANTIPHON_KEY (default: one in this process)")
    .option("--voice <name>", "voice of the replies: 0, 1 or one of OpenAI's names (default: 0)")
    .option("--model <id>", "public model, as `antiphon models list` prints it (default: the default model)")
    .option("--instructions <text>", "instructions for the assistant")
    .option("--loudspeaker", "for use without headphones: the microphone is muted during replies")
    .action(async (flags: TalkFlags, command: Command) => {
      const settings = await settingsOf(command, io);
      const { programOnPath, RECORDERS, STREAM_PLAYERS } = await import("./terminal/sound-programs.ts");
      programOnPath(RECORDERS, "No program that records was found on this machine", io.env);
      programOnPath(STREAM_PLAYERS, "No program that plays was found on this machine", io.env);
      const { interruption } = await import("./terminal/interruption.ts");
      const { signal, release } = interruption();
      try {
        await withServer(flags, settings, io, signal, (address) => talk(address, flags, io, signal));
      } catch (error) {
        // To interrupt it is how it is left.
        if (!signal.aborted) throw error;
      } finally {
        release();
      }
    });
}

interface Address {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Talks to the server that is named, or to one of its own in this process, whose keys are gone with it. */
async function withServer(
  { url }: TalkFlags,
  settings: Settings,
  { env, stderr }: CommandIo,
  signal: AbortSignal,
  use: (address: Address) => Promise<void>,
): Promise<void> {
  if (url !== undefined) {
    if (!/^https?:\/\//.test(url))
      throw new UsageError(`--url ${JSON.stringify(url)} is no address: write http://host:port.`);
    const apiKey = env.ANTIPHON_KEY ?? "";
    if (apiKey === "") throw new UsageError("A server asks for a key: set ANTIPHON_KEY to one.");
    return use({ baseUrl: url, apiKey });
  }
  const { default: pino } = await import("pino");
  const { startFromSettings } = await import("../server/from-settings.ts");
  const { pullProgress } = await import("./terminal/pull-progress.ts");
  const keysDir = await mkdtemp(join(tmpdir(), "antiphon-"));
  try {
    const server = await startFromSettings(ofItsOwn(settings), {
      env,
      keysDir,
      logger: pino({ level: "silent" }),
      openProgress: () => pullProgress(stderr),
      note: (sentence) => printLine(stderr, sentence),
    });
    try {
      const isReady = server.prepare();
      isReady.catch(() => {});
      await Promise.race([isReady, aborted(signal)]);
      await use({ baseUrl: server.url, apiKey: server.firstKey ?? "" });
    } finally {
      await server.stop();
    }
  } finally {
    await rm(keysDir, { recursive: true, force: true, maxRetries: 9 });
  }
}

/** The settings of a server that nobody else is to find. */
function ofItsOwn({ wyoming: _, ...settings }: Settings): Settings {
  return {
    ...settings,
    host: "127.0.0.1",
    port: 0,
    shutdownGraceMs: 0,
    playground: { ...settings.playground, enabled: false },
    metrics: { ...settings.metrics, enabled: false },
    store: { ...settings.store, kind: "libsql" },
    buckets: { ...settings.buckets, kind: "memory" },
    realtime: { ...settings.realtime, enabled: true },
  };
}

async function talk(address: Address, flags: TalkFlags, io: CommandIo, signal: AbortSignal): Promise<void> {
  const { RealtimeConversation } = await import("../client/realtime.ts");
  const { PrintedConversation } = await import("./terminal/printed-conversation.ts");
  const { openMicrophone } = await import("./terminal/microphone.ts");
  const { openReplyPlayer } = await import("./terminal/reply-player.ts");
  const { programOnPath, STREAM_PLAYERS } = await import("./terminal/sound-programs.ts");
  const { WebSocket } = await import("ws");
  const note = (sentence: string): void => printLine(io.stderr, sentence);
  const player = programOnPath(STREAM_PLAYERS, "No program that plays was found on this machine", io.env);
  const printed = new PrintedConversation(io.stdout);
  let onClosed: (error: Error | null) => void = () => {};
  const closed = new Promise<void>((resolve, reject) => {
    onClosed = (error) => (error === null ? resolve() : reject(error));
  });
  closed.catch(() => {});
  let last: Error | null = null;
  const conversation = new RealtimeConversation({
    ...address,
    model: flags.model,
    WebSocket,
    session: sessionOf(flags),
    openPlayer: (events) => openReplyPlayer(player, io.env, events, note),
    onTurn: printed.onTurn,
    onPosition: printed.onPosition,
    onError: (error) => {
      last = error;
      if (conversation.state !== "closed") note(`${error.message}.`);
    },
    onState: (state) => {
      if (state === "closed") onClosed(last);
    },
  });
  await conversation.connect();
  const microphone = openMicrophone(io.env, (pcm) => {
    // Loudspeakers are heard by the microphone, and would interrupt themselves.
    if (flags.loudspeaker && conversation.state === "speaking") pcm.fill(0);
    conversation.hear(pcm);
  });
  const lines = typedLines(io, conversation);
  try {
    note(
      flags.loudspeaker
        ? "Speak, or type a line. It does not listen while it speaks. Ctrl-C leaves."
        : "Speak, or type a line. Wear headphones: over loudspeakers it hears itself (or give --loudspeaker). Ctrl-C leaves.",
    );
    await Promise.race([closed, microphone.failed, aborted(signal)]);
  } finally {
    lines?.close();
    microphone.close();
    conversation.close();
  }
}

function sessionOf({ voice = "0", instructions }: TalkFlags): Readonly<Record<string, unknown>> {
  return {
    ...(instructions === undefined ? {} : { instructions }),
    audio: { input: { turn_detection: { type: "semantic_vad" } }, output: { voice } },
  };
}

/** Lines that are typed are turns of the conversation, too. */
function typedLines({ stdin }: CommandIo, conversation: RealtimeConversation): { close(): void } | null {
  if (stdin.isTTY !== true) return null;
  const lines = createInterface({ input: stdin, terminal: false });
  lines.on("line", (line) => {
    if (line.trim() !== "") conversation.say(line.trim());
  });
  return lines;
}

/** Rejects with the signal's reason. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
