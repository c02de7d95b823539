import { createInterface } from "node:readline/promises";
import { nearestName } from "../core/nearest-name.ts";
import {
  findRecogniser,
  findVoiceCheckpoint,
  namesOf,
  type RecogniserManifest,
  recogniserManifests,
  type VoiceManifest,
  voiceManifests,
  type WriterManifest,
} from "../models/checkpoint-manifest.ts";
import type { HubPullOptions, LicenceQuestion } from "../models/download/accepted-licences.ts";
import { megabytes } from "../models/download/disk.ts";
import { HUB_PREFIX, type HubName, parseHubName } from "../models/download/hub-name.ts";
import type { PullProgress } from "../models/download/options.ts";
import { type PullOutcome, pullCheckpoint, removeCheckpoint } from "../models/download/pull.ts";
import { pullCodecLm } from "../models/download/pull-codec-lm.ts";
import { pullFromHub } from "../models/download/pull-hub.ts";
import { pullRecogniser } from "../models/download/pull-recogniser.ts";
import { pullVoice } from "../models/download/pull-voice.ts";
import { readLocalManifest, readLocalManifests } from "../models/installation-records.ts";
import { checkpointDir, checkpointFile } from "../models/installed-checkpoint.ts";
import {
  codecLmAt,
  findCodecLm,
  findKnownWriter,
  KNOWN_CODEC_LMS,
  KNOWN_WRITERS,
  type KnownCodecLm,
  templateOf,
} from "../models/known-hub-models.ts";
import { KOKORO_SPEAKER_VOICES, voicesMeasuredFirst } from "../models/kokoro-voices.ts";
import { EMBEDDED_CHECKPOINT } from "../models/public-models.ts";
import { messageWithCauses, UsageError } from "../server/errors.ts";
import type { Settings } from "../settings/schema.ts";
import { type CommandIo, onOneLine, safeText } from "./terminal/command-io.ts";
import { pullProgress } from "./terminal/progress.ts";
import { untilInterrupted } from "./terminal/stop-signal.ts";

/** Pulls checkpoints one after the other, and reports each. An interrupt ends it like any program, after clean-up. */
export async function pullModels(
  names: readonly string[],
  settings: Settings,
  { acceptLicence }: { readonly acceptLicence: boolean },
  io: CommandIo,
): Promise<void> {
  const { dataDir } = settings;
  const wanted: Target[] = [];
  for (const name of names) wanted.push(await targetOf(name, dataDir));
  const progress = await pullProgress(io.stderr);
  await untilInterrupted(async (signal) => {
    try {
      const options: HubPullOptions & { readonly signal: AbortSignal } = {
        dataDir,
        signal,
        env: io.env,
        observe: progress.observe,
        acceptLicence: (question) => askLicence(question, acceptLicence, io, signal),
      };
      for (const target of wanted) await pullTarget(target, settings, options, progress, io);
    } finally {
      progress.close();
      if (signal.aborted)
        io.stderr.write("Interrupted: what was fetched is kept, and the next pull resumes from there.\n");
    }
  });
}

/** Pulls a target, reports it, and says how to use it. */
async function pullTarget(
  target: Target,
  settings: Settings,
  options: HubPullOptions & { readonly signal: AbortSignal },
  progress: PullProgress,
  io: CommandIo,
): Promise<void> {
  const { dataDir } = options;
  const sayPulled = (named: { readonly name: string }, outcome: PullOutcome): void => {
    const already = outcome === "installed" ? "installed" : "already installed, and undamaged";
    io.stdout.write(`${named.name} is ${already}: ${checkpointDir(named, dataDir)}\n`);
  };
  switch (target.kind) {
    case "embedded":
      io.stdout.write(`${EMBEDDED_CHECKPOINT} is part of Antiphon: there is nothing to pull.\n`);
      return;
    case "recogniser": {
      const { WHISPER_CONVERSION: conversion } = await import("../server/recogniser/recogniser-weights.ts");
      sayPulled(target.manifest, await pullRecogniser(target.manifest, { ...options, conversion }));
      return;
    }
    case "voice":
      sayPulled(target.manifest, await pullVoice(target.manifest, options));
      await prepareVoice(target.manifest, options);
      progress.close();
      io.stdout.write(howToSpeak(target.manifest.name));
      return;
    case "codec-lm":
      sayPulled(target.known, await pullCodecLm(target.known, options));
      progress.close();
      return reportCodecLm(target.known, dataDir, io);
    default: {
      const { manifest, outcome } =
        target.kind === "hub"
          ? await pullFromHub(target.name, options)
          : { ...target, outcome: await pullCheckpoint(target.manifest, options) };
      sayPulled(manifest, outcome);
      progress.close();
      io.stdout.write(await howToWrite(manifest, settings));
    }
  }
}

/** Reports what is in a codec language model's folder, and how to speak with it. @throws Error if it is unusable */
async function reportCodecLm(known: KnownCodecLm, dataDir: string, io: CommandIo): Promise<void> {
  const { validateCheckpoint } = await import("../engines/codec-lm/validate-checkpoint.ts");
  const { name } = known;
  const { facts, problems } = await validateCheckpoint(checkpointDir(known, dataDir));
  for (const line of [...facts, ...problems]) io.stdout.write(`${line}\n`);
  if (problems.length > 0) {
    throw new Error(
      `The checkpoint ${name} is installed as the hub has it, but cannot be spoken with: ` +
        `${problems.length} ${problems.length === 1 ? "thing is" : "things are"} wrong with it. ` +
        `Run antiphon models rm ${name} to free its space.`,
    );
  }
  io.stdout.write(howToSpeak(name, "svc-beta-v0.3"));
}

/** Converts the published graph for use. @throws Error in one sentence with the remedy */
async function prepareVoice(
  { name }: VoiceManifest,
  { dataDir, signal, observe }: HubPullOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { prepareKokoro } = await import("../server/voices/kokoro-preparation.ts");
  const onBegin = () => observe?.({ kind: "preparing", checkpoint: name });
  const voices = voicesMeasuredFirst(KOKORO_SPEAKER_VOICES);
  await prepareKokoro(checkpointDir({ name }, dataDir), signal, { voices, onBegin }).catch(
    (cause: unknown) => {
      signal.throwIfAborted();
      const why = messageWithCauses(cause).replace(/\.$/, "");
      throw new Error(
        `The checkpoint ${name} is fetched, but cannot be prepared (${why}): run antiphon models pull ${name} again; nothing is fetched twice.`,
        { cause },
      );
    },
  );
}

function howToSpeak(name: string, model = name): string {
  return (
    "To speak with it, map a model to it in the configuration file: " +
    `{"models": {"${model}": {"checkpoint": "${name}"}}}\n`
  );
}

/** Opens a language model once, and returns how to write with it. @throws Error if it cannot write */
async function howToWrite(manifest: WriterManifest, { dataDir, writer }: Settings): Promise<string> {
  const { ggufOptions } = await import("../server/writer/compose-writer.ts");
  const { openGgufWriter } = await import("../writers/llama/gguf-writer.ts");
  const { name } = manifest;
  const modelPath = checkpointFile(manifest, dataDir);
  const file = { name, modelPath, template: templateOf(manifest), isQuiet: () => true };
  try {
    await (await openGgufWriter(ggufOptions(file, writer))).close();
  } catch (error) {
    throw new Error(
      `The checkpoint ${name} is installed, but cannot write here: ${messageWithCauses(error)}. Run antiphon models rm ${name} to free its space.`,
      { cause: error },
    );
  }
  return `To write with it, set writer.checkpoint to ${name}, as in ANTIPHON_WRITER_CHECKPOINT=${name} npx antiphon serve\n`;
}

/** Removes a checkpoint, and reports it. */
export async function removeModel(name: string, dataDir: string, io: CommandIo): Promise<void> {
  const installed = findCodecLm(name)?.name ?? (await installedName(name, dataDir));
  if (installed === EMBEDDED_CHECKPOINT) {
    throw new Error(
      `The voice ${EMBEDDED_CHECKPOINT} is part of Antiphon, and speaks for every model: it stays.`,
    );
  }
  if (await removeCheckpoint({ name: installed }, dataDir)) io.stdout.write(`${installed} is removed.\n`);
  else
    throw new Error(
      `The checkpoint ${installed} is not installed in ${dataDir}: there is nothing to remove.`,
    );
}

type Target =
  | { readonly kind: "embedded" }
  | { readonly kind: "manifest"; readonly manifest: WriterManifest }
  | { readonly kind: "recogniser"; readonly manifest: RecogniserManifest }
  | { readonly kind: "voice"; readonly manifest: VoiceManifest }
  | { readonly kind: "codec-lm"; readonly known: KnownCodecLm }
  | { readonly kind: "hub"; readonly name: HubName };

async function targetOf(name: string, dataDir: string): Promise<Target> {
  if (name === EMBEDDED_CHECKPOINT) return { kind: "embedded" };
  if (name.startsWith(HUB_PREFIX)) {
    const named = hubName(name);
    const spoken = named.file === null ? codecLmAt(named.repository) : undefined;
    return spoken === undefined ? { kind: "hub", name: named } : { kind: "codec-lm", known: spoken };
  }
  const known = findCodecLm(name);
  if (known !== undefined) return { kind: "codec-lm", known };
  const recogniser = findRecogniser(name);
  if (recogniser !== undefined) return { kind: "recogniser", manifest: recogniser };
  const voice = findVoiceCheckpoint(name);
  if (voice !== undefined) return { kind: "voice", manifest: voice };
  const own = await readLocalManifest(name, dataDir);
  if (own?.manifest) return { kind: "manifest", manifest: own.manifest };
  if (own !== null) throw new Error(own.problem ?? "");
  const hub = findKnownWriter(name);
  if (hub !== undefined) return { kind: "hub", name: { repository: hub.repository, file: hub.path } };
  throw await unknown(name, dataDir);
}

/** Returns the folder name of a checkpoint, installed or not. */
async function installedName(name: string, dataDir: string): Promise<string> {
  if (name === EMBEDDED_CHECKPOINT || findKnownWriter(name) !== undefined) return name;
  const manifest = findRecogniser(name) ?? findVoiceCheckpoint(name);
  if (manifest !== undefined) return manifest.name;
  if ((await readLocalManifest(name, dataDir)) !== null) return name;
  throw await unknown(name, dataDir);
}

function hubName(text: string): HubName {
  try {
    return parseHubName(text);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function unknown(name: string, dataDir: string): Promise<UsageError> {
  const own = (await readLocalManifests(dataDir)).map((one) => one.name);
  const known = [...KNOWN_CODEC_LMS, ...KNOWN_WRITERS].map((one) => one.name);
  const names = [
    ...new Set([
      ...recogniserManifests().flatMap(namesOf),
      ...voiceManifests().flatMap(namesOf),
      ...known,
      ...own,
    ]),
  ];
  const meant = nearestName(name, [...names, EMBEDDED_CHECKPOINT]);
  const remedy =
    meant === null
      ? `there are ${names.join(", ")}, and hf:OWNER/REPO for what is on the hub.`
      : `did you mean ${meant}?`;
  return new UsageError(`There is no checkpoint ${JSON.stringify(name)}: ${remedy}`);
}

/**
 * Shows a licence and returns whether it is accepted: by the flag `--accept-licence`, or by an answer at the terminal.
 *
 * @throws Error with the remedy if there is neither; the signal's reason
 */
export async function askLicence(
  { repository, licence, licenceUrl, file, sizeBytes }: LicenceQuestion,
  isAccepted: boolean,
  { stdin: input, stderr: output }: Pick<CommandIo, "stdin" | "stderr">,
  signal: AbortSignal,
): Promise<boolean> {
  const asked = `${repository} (${file}, ${megabytes(sizeBytes)}): licence ${licence}, ${licenceUrl}`;
  const shown = onOneLine(output, asked);
  if (isAccepted) {
    output.write(`${shown}; accepted with --accept-licence.\n`);
    return true;
  }
  if (input.isTTY !== true || output.isTTY !== true) {
    throw new Error(
      `The licence of ${shown} has yet to be accepted: read it, then run this again with --accept-licence. Nothing was fetched.`,
    );
  }
  const prompt = createInterface({ input, output: output.raw ?? output });
  try {
    const answer = await prompt.question(`${safeText(shown)}.\nDo you accept it? [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    prompt.close();
  }
}
