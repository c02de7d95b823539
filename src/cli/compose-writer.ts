import { type Writer, WriterError } from "../model/writer.ts";
import type { Settings } from "../settings/schema.ts";
import { SettingsError } from "../settings/settings-error.ts";
import { readApiKey } from "../writers/chat/secret.ts";
import { DeferredWriter } from "../writers/deferred-writer.ts";
import { SPOKEN_PROMPT } from "../writers/dialogue-messages.ts";
import { openGateClassifier } from "../writers/gate/gate-classifier.ts";
import { gated } from "../writers/gate/gated.ts";
import { embeddedWriter } from "../writers/llama/embedded.ts";
import { type GgufWriterOptions, openGgufWriter } from "../writers/llama/gguf-writer.ts";
import { openReplySource } from "../writers/replies/reply-source.ts";
import { replying } from "../writers/replies/replying-writer.ts";
import { tidied } from "../writers/tidied.ts";
import type { WriterWeights } from "./pull-writer.ts";

/** What opening a writer may need beyond its settings. */
export interface WriterSources {
  /** Sees to it that the embedded writer's weights are there; asked when they are needed, and again after a failure. */
  weights(): Promise<WriterWeights>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Who writes authored turns by the settings, with what guards every writer; `null` is nobody. Nothing is loaded before
 * {@link DeferredWriter.prepare}, or the first turn.
 *
 * @throws SettingsError when a setting that the kind needs is missing.
 */
export function composeWriter(settings: Settings, sources: WriterSources): DeferredWriter | null {
  const inner = innerWriter(settings, sources);
  if (inner === null) return null;
  return new DeferredWriter(inner.name, () => guarded(inner, settings.writer));
}

async function guarded(inner: Inner, settings: Settings["writer"]): Promise<Writer> {
  const gate = settings.gate ? await openGateClassifier() : null;
  try {
    const writer = tidied(await inner.open(), systemPromptOf(settings));
    return gate === null ? writer : gated(writer, gate);
  } catch (error) {
    await gate?.close();
    throw error;
  }
}

interface Inner {
  readonly name: string;
  open(): Promise<Writer>;
}

function innerWriter({ writer }: Settings, { weights, env }: WriterSources): Inner | null {
  switch (writer.kind) {
    case "none":
      return null;
    case "embedded": {
      const open = async () => {
        const { path, problem } = await weights();
        if (problem !== null) {
          throw new WriterError(
            "the writer's weights are not there, or are damaged: run antiphon models pull writer",
            { cause: new Error(problem) },
          );
        }
        const model = await openGgufWriter(embeddedWriter(path));
        return writer.replies ? withReplies(model) : model;
      };
      return { name: embeddedWriter("").name, open };
    }
    case "gguf": {
      const modelPath = needed(writer.path, "writer.path", "the GGUF file");
      const name = modelPath.replace(/^.*[/\\]/, "");
      return { name, open: () => openGgufWriter(ownModel(name, modelPath, writer)) };
    }
    case "chat": {
      const baseUrl = needed(writer.baseUrl, "writer.baseUrl", "the endpoint's address");
      const model = needed(writer.model, "writer.model", "the model to ask for");
      const apiKey = readApiKey({ env, file: writer.apiKeyFile });
      const open = async () => {
        const { openChatWriter } = await import("../writers/chat/chat-writer.ts");
        return openChatWriter({ ...writer, systemPrompt: systemPromptOf(writer), baseUrl, model, apiKey });
      };
      return { name: model, open };
    }
  }
}

/** The small model, for what nothing better answers. */
async function withReplies(model: Writer): Promise<Writer> {
  try {
    return replying(model, await openReplySource());
  } catch (error) {
    await model.close();
    throw error;
  }
}

/** How to speak, and after it what the operator asks of every reply. */
function systemPromptOf({ systemPrompt = SPOKEN_PROMPT, instructions }: Settings["writer"]): string {
  return instructions === undefined ? systemPrompt : `${systemPrompt}\n\n${instructions}`;
}

/** A model of the user's own: larger, so it may read and write more, with the threads that are there. */
function ownModel(name: string, modelPath: string, writer: Settings["writer"]): GgufWriterOptions {
  return {
    name,
    modelPath,
    adapterPath: null,
    template: "own",
    systemPrompt: systemPromptOf(writer),
    window: { maxChars: 6_000, stepChars: 1_500 },
    contextTokens: 2_048 + writer.maxTokens,
    maxTokens: writer.maxTokens,
    maxSentences: 8,
    leastSureness: null,
    temperatureScale: 1,
    sequences: 2,
    threads: 1,
    characterBytes: true,
  };
}

function needed(value: string | undefined, setting: string, what: string): string {
  if (value !== undefined) return value;
  throw new SettingsError(
    "file",
    `The setting ${setting} is missing: with this writer.kind it names ${what}.`,
  );
}
