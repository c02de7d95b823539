import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import type { RealtimeAddress, RealtimeConversation, RealtimeTurn } from "../client/realtime.ts";
import { abortable } from "../core/abortable.ts";
import { UsageError } from "../server/errors.ts";
import type { Settings } from "../settings/schema.ts";
import { type CommandIo, onOneLine, printLine, type Screen } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";
import { onStopSignal } from "./terminal/stop-signal.ts";

interface TalkFlags {
  readonly url?: string;
  readonly voice?: string;
  readonly language?: string;
  readonly model?: string;
  readonly instructions?: string;
  readonly loudspeaker?: boolean;
}

/** Registers `antiphon talk`, a spoken conversation in a terminal until it is interrupted. */
export function registerTalk(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("talk"))
    .description("hold a spoken conversation in the terminal")
    .option("--url <url>", "server to use, with the key in ANTIPHON_KEY (default: a new one)")
    .option("--voice <name>", "voice of the replies: name, id or OpenAI name (default: 0)")
    .option("--language <tag>", "language of the replies, such as es (default: the voice's)")
    .option("--model <id>", "model id from `antiphon models list` (default: the default model)")
    .option("--instructions <text>", "instructions for the assistant")
    .option("--loudspeaker", "mute the microphone during replies, for use without headphones")
    .action(async (flags: TalkFlags, command: Command) => {
      const settings = await settingsOf(command, io);
      const { findRecorder, findStreamPlayer } = await import("./terminal/audio-devices.ts");
      findRecorder(io.env);
      findStreamPlayer(io.env);
      const stopping = new AbortController();
      const { signal } = stopping;
      const release = onStopSignal(() => stopping.abort(new Error("interrupted")));
      try {
        await withServer(flags, settings, io, signal, (address) => talk(address, flags, io, signal));
      } catch (error) {
        // An interrupt is the usual way to leave.
        if (!signal.aborted) throw error;
      } finally {
        release();
      }
    });
}

type Address = Pick<RealtimeAddress, "baseUrl" | "apiKey">;

/** Uses the named server, or starts one in this process with temporary keys. */
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
  const { pullProgress } = await import("./terminal/progress.ts");
  const keysDir = await mkdtemp(join(tmpdir(), "antiphon-"));
  try {
    const server = await startFromSettings(privateServerSettings(settings), {
      env,
      keysDir,
      logger: pino({ level: "silent" }),
      openProgress: () => pullProgress(stderr),
      note: (sentence) => printLine(stderr, sentence),
    });
    try {
      const isReady = server.prepare();
      isReady.catch(() => {});
      await abortable(isReady, signal);
      await use({ baseUrl: server.url, apiKey: server.firstKey ?? "" });
    } finally {
      await server.stop();
    }
  } finally {
    await rm(keysDir, { recursive: true, force: true, maxRetries: 9 });
  }
}

function privateServerSettings({ wyoming: _, ...settings }: Settings): Settings {
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
  const { openMicrophone, openReplyPlayer, findStreamPlayer } = await import("./terminal/audio-devices.ts");
  const { WebSocket } = await import("ws");
  const note = (sentence: string): void => printLine(io.stderr, sentence);
  const player = findStreamPlayer(io.env);
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
    // The microphone picks up the loudspeakers, and replies would interrupt themselves.
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
    await abortable(Promise.race([closed, microphone.failed]), signal);
  } finally {
    lines?.close();
    microphone.close();
    conversation.close();
  }
}

function sessionOf({ voice = "0", language, instructions }: TalkFlags): Readonly<Record<string, unknown>> {
  return {
    ...(instructions === undefined ? {} : { instructions }),
    audio: { input: { turn_detection: { type: "semantic_vad" } }, output: { voice, language } },
  };
}

/** Turns typed lines into turns of the conversation. */
function typedLines({ stdin }: CommandIo, conversation: RealtimeConversation): { close(): void } | null {
  if (stdin.isTTY !== true) return null;
  const lines = createInterface({ input: stdin, terminal: false });
  lines.on("line", (line) => {
    if (line.trim() !== "") conversation.say(line.trim());
  });
  return lines;
}

/** Prints a conversation: the user's turns once transcribed, replies as they are played. */
export class PrintedConversation {
  readonly #out: Screen;
  /** Reply that is being printed, and how many of its characters are printed. */
  #turn: RealtimeTurn | null = null;
  #printed = 0;
  readonly #ended = new Set<string>();

  constructor(out: Screen) {
    this.#out = out;
  }

  readonly onTurn = (turn: RealtimeTurn | null): void => {
    const isEnded = turn?.state === "done" || turn?.state === "interrupted";
    if (turn === null || !isEnded || this.#ended.has(turn.id)) return;
    this.#ended.add(turn.id);
    if (turn.role === "user") printLine(this.#out, `You: ${turn.text}`);
    else if (turn.state === "done") this.#end(turn, turn.text.length, "");
    else this.#end(turn, this.#printed, " —");
  };

  readonly onPosition = (turn: RealtimeTurn, seconds: number): void => {
    const word = turn.words.findLast(({ start }) => start <= seconds);
    if (word === undefined || this.#ended.has(turn.id)) return;
    const until = Array.from(turn.text)
      .slice(0, word.offset + word.length)
      .join("").length;
    this.#print(turn, until);
  };

  #print(turn: RealtimeTurn, until: number): void {
    if (this.#turn !== turn) {
      this.#turn = turn;
      this.#printed = 0;
      this.#out.write("Antiphon: ");
    }
    if (until <= this.#printed) return;
    this.#out.write(onOneLine(this.#out, turn.text.slice(this.#printed, until)));
    this.#printed = until;
  }

  #end(turn: RealtimeTurn, until: number, mark: string): void {
    // A reply that was interrupted before its first word has nothing to print.
    if (this.#turn !== turn && mark !== "") return;
    this.#print(turn, until);
    this.#out.write(`${mark}\n`);
    this.#turn = null;
    this.#printed = 0;
  }
}
