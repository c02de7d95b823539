import { type Writer, WriterError } from "../../core/writer.ts";
import { templateOf } from "../../models/known-hub-models.ts";
import type { Settings } from "../../settings/schema.ts";
import { DeferredWriter } from "../../writers/deferred-writer.ts";
import { DEFAULT_SYSTEM_PROMPT } from "../../writers/dialogue-messages.ts";
import { openGateClassifier } from "../../writers/gate/gate-classifier.ts";
import { gateWriter } from "../../writers/gate/gated-writer.ts";
import { type GgufWriterOptions, openGgufWriter } from "../../writers/llama/gguf-writer.ts";
import { freeMemoryBytes } from "../../writers/llama/open-model.ts";
import type { PromptTemplate } from "../../writers/llama/prompt.ts";
import { openSmallTalk } from "../../writers/small-talk/small-talk.ts";
import { speakableWriter } from "../../writers/speakable/speakable.ts";
import { endpointOf, isSmallTalk, neededSetting } from "../endpoint-settings.ts";
import { checkpointRemedy, type WriterWeights } from "./writer-weights.ts";

/** What opening a writer may need in addition to its settings. */
interface WriterSources {
  /** Makes a checkpoint's weights available. Called again after a failure. */
  weights(checkpoint: string): Promise<WriterWeights>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether no speech is computed just now, so that writing may use all cores. Default: always. */
  readonly isQuiet?: () => boolean;
  /** Logs a sentence. */
  readonly note?: (sentence: string) => void;
}

/**
 * Returns the configured writer, behind the safety gate if that is on; `null` if there is none. Loads nothing before
 * {@link DeferredWriter.prepare} or the first turn.
 *
 * @throws SettingsError if a required setting is missing
 */
export function composeWriter(settings: Settings, sources: WriterSources): DeferredWriter | null {
  const inner = innerWriter(settings, sources);
  if (inner === null) return null;
  const { writer } = settings;
  const isGuarded = writer.gate ?? isSmallTalk(writer);
  if (!isGuarded && (writer.gate === undefined || isSmallTalk(writer))) sources.note?.(UNGUARDED);
  const open = () => (isGuarded ? openGated(inner.open) : inner.open());
  return new DeferredWriter(inner.name, open, writer.kind === "chat");
}

const UNGUARDED =
  "The safety gate is off: the language model alone answers suicidal, emergency and abusive turns. " +
  "To switch it on, set writer.gate to true (ANTIPHON_WRITER_GATE=true).";

/** Opens the gate last, so that nothing is loaded for it if the writer cannot be opened. */
async function openGated(open: () => Promise<Writer>): Promise<Writer> {
  const writer = await open();
  try {
    return gateWriter(writer, await openGateClassifier());
  } catch (error) {
    await writer.close();
    throw error;
  }
}

interface InnerWriter {
  readonly name: string;
  open(): Promise<Writer>;
}

function innerWriter({ writer }: Settings, sources: WriterSources): InnerWriter | null {
  const { weights, env, isQuiet = () => true } = sources;
  switch (writer.kind) {
    case "none":
      return null;
    case "embedded": {
      const { checkpoint } = writer;
      if (checkpoint === undefined) return { name: "small-talk", open: () => openSmallTalk() };
      const open = async () => {
        const { path, manifest, problem } = await weights(checkpoint);
        if (problem !== null || manifest === null) {
          const remedy = checkpointRemedy(checkpoint, manifest !== null || undefined);
          throw new WriterError(`the writer's weights are missing or damaged: ${remedy}`, {
            cause: new Error(problem ?? ""),
          });
        }
        const file = { name: checkpoint, modelPath: path, template: templateOf(manifest), isQuiet };
        return speakableWriter(await openGgufWriter(ggufOptions(file, writer)));
      };
      return { name: checkpoint, open };
    }
    case "gguf": {
      const modelPath = neededSetting(writer.path, "writer.path", "writer.kind", "the GGUF file");
      const name = modelPath.replace(/^.*[/\\]/, "");
      const file = { name, modelPath, template: "own", isQuiet } as const;
      return { name, open: async () => speakableWriter(await openGgufWriter(ggufOptions(file, writer))) };
    }
    case "chat": {
      const { baseUrl, model, apiKey } = endpointOf("writer", writer, env);
      const open = async () => {
        const { openChatWriter } = await import("../../writers/chat/chat-writer.ts");
        const systemPrompt = systemPromptOf(writer);
        return speakableWriter(openChatWriter({ ...writer, systemPrompt, baseUrl, model, apiKey }));
      };
      return { name: model, open };
    }
  }
}

interface ModelFile {
  readonly name: string;
  readonly modelPath: string;
  readonly template: PromptTemplate;
  /** Whether no speech is computed at the moment. */
  readonly isQuiet: () => boolean;
}

export function ggufOptions(file: ModelFile, writer: Settings["writer"]): GgufWriterOptions {
  // Other languages have fewer characters per token, so the prompt is shortened later.
  const maxChars = 3 * writer.contextTokens;
  return {
    ...file,
    systemPrompt: systemPromptOf(writer),
    window: { maxChars, stepChars: Math.ceil(maxChars / 4) },
    contextTokens: writer.contextTokens + THOUGHT_TOKENS + writer.maxTokens,
    maxTokens: writer.maxTokens,
    sequences: writer.replies,
    threads: writer.threads,
    isBatched: writer.batchReplies,
    freeBytes: freeMemoryBytes,
  };
}

/** Returns the configured or default system prompt, followed by the operator's instructions. */
export function systemPromptOf({
  systemPrompt = DEFAULT_SYSTEM_PROMPT,
  instructions,
}: Settings["writer"]): string {
  return instructions === undefined ? systemPrompt : `${systemPrompt}\n\n${instructions}`;
}

/** Extra tokens for models that think despite enable_thinking=false. */
const THOUGHT_TOKENS = 256;
