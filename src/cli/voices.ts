import type { Command } from "commander";
import type { VoiceRecord } from "../accounts/store.ts";
import type { Tenancy } from "../accounts/tenancy.ts";
import { ServiceError } from "../contract/errors.ts";
import { UsageError } from "../server/errors.ts";
import type { Settings } from "../settings/schema.ts";
import { withTenancy } from "./keys.ts";
import { findVoice } from "./stored-voice.ts";
import { type CommandIo, printLine, table } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";
import { untilInterrupted } from "./terminal/stop-signal.ts";

interface AddFlags {
  readonly name: string;
  readonly consent: string;
  readonly key?: string;
  readonly text?: string;
  readonly description?: string;
  readonly json?: boolean;
}

/** Registers `antiphon voices list|add|rm`. A running server applies changes at once. */
export function registerVoices(program: Command, io: CommandIo): void {
  const voices = addGlobalOptions(program.command("voices")).description("list, add and remove voices");

  addGlobalOptions(voices.command("list"))
    .description("list the voices of all models and keys")
    .option("--language <tag>", "only voices that speak it, such as es")
    .option("--json", "print JSON")
    .action(async (flags: ListFlags, command: Command) => list(flags, command, io));

  addGlobalOptions(voices.command("add"))
    .description("create a voice from a recording of one person, ideally 5 to 12 s")
    .argument("<file>", "recording (WAV, MP3, FLAC, or Opus in Ogg or WebM), or - for standard input")
    .requiredOption("--name <name>", "name of the voice")
    .requiredOption("--consent <text>", "statement that the speaker agrees; stored with the voice")
    .option("--key <key_id>", "id of the key that owns the voice (default: the only key)")
    .option("--text <text>", "transcript (default: from the recogniser, if installed)")
    .option("--description <text>", "description for people")
    .option("--json", "print JSON")
    .action(async (file: string, flags: AddFlags, command: Command) => add(file, flags, command, io));

  addGlobalOptions(voices.command("rm"))
    .description("delete a voice and its recording")
    .argument("<voice>", "name or id from `antiphon voices list`")
    .action(async (voice: string, _options: object, command: Command) => remove(voice, command, io));
}

interface ListFlags {
  readonly language?: string;
  readonly json?: boolean;
}

async function list({ language, json }: ListFlags, command: Command, io: CommandIo): Promise<void> {
  const settings = await settingsOf(command, io);
  const { localPublicModels } = await import("./stored-voice.ts");
  const { listVoices, voicesInLanguage } = await import("../serving/voices/voice-list.ts");
  const { readServerVoices } = await import("../server/voices/server-voices.ts");
  const models = await localPublicModels(settings);
  const serverVoices = await readServerVoices(settings, models);
  await withTenancy(settings, io, async (tenancy) => {
    const own = await tenancy.voices.listVoices();
    const cards = models.map(({ card }) => card);
    const { data } = inLanguage(() =>
      voicesInLanguage(listVoices(cards, serverVoices, own), language ?? null),
    );
    const keyOf = new Map(own.map(({ voiceId, keyId }) => [voiceId, keyId]));
    if (json === true) {
      const rows = data.map((voice) => ({ ...voice, key_id: keyOf.get(voice.id) ?? null }));
      io.stdout.write(`${JSON.stringify(rows)}\n`);
      return;
    }
    const tags = data.map((voice) => voice.language);
    const grouped = data.toSorted((a, b) => tags.indexOf(a.language) - tags.indexOf(b.language));
    const rows = grouped.map(({ id, name, sex, language: tag, aliases, models: of, owner }) => [
      name,
      id,
      sex ?? "",
      tag ?? "",
      aliases.join(", "),
      owner === "key" ? (keyOf.get(id) ?? "") : owner === "server" ? "the settings" : of.join(", "),
    ]);
    io.stdout.write(table(["NAME", "ID", "SEX", "LANGUAGE", "ALSO", "OF"], rows, io.stdout));
  });
}

function inLanguage<T>(list: () => T): T {
  try {
    return list();
  } catch (error) {
    throw error instanceof ServiceError ? new UsageError(`${error.message}.`) : error;
  }
}

async function add(file: string, flags: AddFlags, command: Command, io: CommandIo): Promise<void> {
  const settings = await settingsOf(command, io);
  await untilInterrupted(async (signal) => {
    await withTenancy(settings, io, async (tenancy) => {
      const keyId = await resolveKeyId(flags.key, tenancy);
      const { voice, hasText } = await createVoice(file, flags, { settings, tenancy, keyId, io }, signal);
      if (flags.json !== true) return void io.stdout.write(describeVoice(voice, hasText));
      const { describeCustomVoice } = await import("../serving/voices/voice-list.ts");
      io.stdout.write(`${JSON.stringify({ ...describeCustomVoice(voice), key_id: voice.keyId })}\n`);
    });
  });
}

async function remove(asked: string, command: Command, io: CommandIo): Promise<void> {
  await withTenancy(await settingsOf(command, io), io, async (tenancy) => {
    const voice = findVoice(asked, await tenancy.voices.listVoices());
    if (voice === null)
      throw new Error(`There is no voice ${JSON.stringify(asked)} to delete: see antiphon voices list.`);
    await tenancy.voices.removeVoice(voice.keyId, voice.voiceId);
    printLine(io.stdout, `The voice ${voice.name} (${voice.voiceId}) is deleted, with its recording.`);
  });
}

interface VoiceCreation {
  readonly settings: Settings;
  readonly tenancy: Tenancy;
  readonly keyId: string;
  readonly io: CommandIo;
}

/** Makes and stores a voice from a recording. Wrong flags and recordings throw a `UsageError`. */
async function createVoice(
  file: string,
  { name, consent, text, description }: AddFlags,
  { settings, tenancy, keyId, io }: VoiceCreation,
  signal: AbortSignal,
): Promise<{ readonly voice: VoiceRecord; readonly hasText: boolean }> {
  const { readVoiceForm } = await import("../contract/voice-form.ts");
  const { readServerVoices } = await import("../server/voices/server-voices.ts");
  const { judgeClip } = await import("../server/voices/voice-audio.ts");
  const { readRecording } = await import("../server/voices/read-recording.ts");
  const { createVoice } = await import("../serving/voices/create-voice.ts");
  const { CustomVoices } = await import("../serving/voices/custom-voices.ts");
  const { transcribeSound } = await import("./transcribe-sound.ts");
  const { clipSource } = await import("../core/audio-source.ts");
  const { localPublicModels } = await import("./stored-voice.ts");
  const models = await localPublicModels(settings);
  const voices = new CustomVoices({
    store: tenancy.voices,
    cards: () => models.map(({ card }) => card),
    serverVoices: await readServerVoices(settings, models),
    decode: () => Promise.reject(new Error("nothing is spoken here")),
  });
  let hasText = true;
  const making = {
    judge: judgeClip,
    field: "the recording",
    async transcribe(clip: Parameters<typeof clipSource>[0]): Promise<string | null> {
      const asked = { task: "transcribe", language: null, wantsWords: false } as const;
      try {
        return (await transcribeSound(clipSource(clip), asked, settings, io, signal)).transcript.text;
      } catch {
        signal.throwIfAborted();
        hasText = false;
        return null;
      }
    },
  };
  try {
    const wanted = readVoiceForm([
      { name: "name", value: name },
      { name: "consent", value: consent },
      ...(text === undefined ? [] : [{ name: "ref_text", value: text }]),
      ...(description === undefined ? [] : [{ name: "description", value: description }]),
    ]);
    await voices.admit(keyId, wanted.name);
    const sound = await readRecording(file, signal, io.stdin);
    const { voice, audio } = await createVoice(wanted, sound, keyId, making, signal);
    await voices.add(voice, audio);
    return { voice, hasText };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new UsageError(`This cannot be a voice: ${error.message}.`);
  }
}

/** Returns the key that will own the voice. */
async function resolveKeyId(asked: string | undefined, tenancy: Tenancy): Promise<string> {
  const good = (await tenancy.listKeys()).filter(({ revokedTsS }) => revokedTsS === null);
  const [only] = good;
  if (asked === undefined) {
    if (only !== undefined && good.length === 1) return only.keyId;
    throw new UsageError(
      good.length === 0
        ? "A voice belongs to a key, and there is none: make one with antiphon keys create."
        : "A voice belongs to a key, and there are several: name one with --key, as antiphon keys list prints it.",
    );
  }
  if (good.some(({ keyId }) => keyId === asked)) return asked;
  throw new UsageError(`There is no key ${JSON.stringify(asked)} that is good: see antiphon keys list.`);
}

function describeVoice(voice: VoiceRecord, hasText: boolean): string {
  const { name, voiceId, durationS, trust, cautions, refText } = voice;
  const lines = [
    `The voice ${name} (${voiceId}) is kept: ${durationS.toFixed(1)} s, followed with a trust of ${trust.toFixed(2)} of 1.`,
    ...(cautions.length === 0 ? [] : [`What speaks against it: ${cautions.join(", ")} (docs/voices.md).`]),
    ...(refText === null && !hasText
      ? ["Its words are unknown: give --text, or install a recogniser, for a more accurate pace."]
      : []),
  ];
  return `${lines.join("\n")}\n`;
}
