import { DEFAULT_PROMPT_STYLE } from "../catalogue/hub-writers.ts";
import type { Writer } from "../model/writer.ts";
import type { Settings } from "../settings/schema.ts";
import { DeferredWriter } from "../writers/deferred-writer.ts";
import { openGateClassifier } from "../writers/gate/gate-classifier.ts";
import { openGgufWriter } from "../writers/llama/gguf-writer.ts";
import { writerChain } from "../writers/writer-chain.ts";
import { behindReplies, type InnerWriter } from "./behind-replies.ts";
import { checkpointWriter } from "./checkpoint-writer.ts";
import { endpointOf, neededSetting } from "./endpoint-settings.ts";
import { largeWriter, systemPromptOf } from "./large-writer.ts";
import type { WriterWeights } from "./pull-writer.ts";

/** What opening a writer may need beyond its settings. */
export interface WriterSources {
  /** Sees to it that a checkpoint's weights are there; asked when they are needed, and again after a failure. */
  weights(checkpoint: string): Promise<WriterWeights>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether nobody is spoken to just now, so that writing may have all cores; always unless given. */
  readonly isQuiet?: () => boolean;
  /** Is told, in plain sentences, how a model was chosen, and what else was done to open it. */
  readonly note?: (sentence: string) => void;
  /** Ends what opening takes. */
  readonly signal?: AbortSignal;
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
  if (!settings.writer.gate) sources.note?.(UNGUARDED);
  return new DeferredWriter(
    inner.name,
    () => opened(inner, settings.writer),
    settings.writer.kind === "chat",
  );
}

const UNGUARDED =
  "The safety gate is off (writer.gate): wishes to die, emergencies and abuse are answered by whatever writes, which " +
  "language models do badly. Set writer.gate to true unless something better stands in its place.";

/** The gate comes last: who has nothing to guard loads nothing for it. */
async function opened(inner: InnerWriter, settings: Settings["writer"]): Promise<Writer> {
  const stages = await inner.open();
  try {
    const gate = settings.gate ? await openGateClassifier() : null;
    return writerChain({ ...stages, gate, told: toldBy(settings) });
  } catch (error) {
    await writerChain(stages).close();
    throw error;
  }
}

/** What an operator's own words tell a model. */
function toldBy({ systemPrompt = "", instructions = "" }: Settings["writer"]): string {
  return [systemPrompt, instructions].join("\n");
}

function innerWriter(settings: Settings, sources: WriterSources): InnerWriter | null {
  const { weights, env, isQuiet = () => true, note = () => {} } = sources;
  const { writer } = settings;
  switch (writer.kind) {
    case "none":
      return null;
    case "embedded":
      return checkpointWriter(settings, {
        weights,
        isQuiet,
        note,
        signal: sources.signal ?? new AbortController().signal,
      });
    case "gguf": {
      const modelPath = neededSetting(writer.path, "writer.path", "writer.kind", "the GGUF file");
      const name = modelPath.replace(/^.*[/\\]/, "");
      return {
        name,
        open: async () => {
          const large = { name, modelPath, promptStyle: DEFAULT_PROMPT_STYLE, isQuiet };
          const model = await openGgufWriter(largeWriter(large, writer));
          return behindReplies(model, model.parameters, writer);
        },
      };
    }
    case "chat": {
      const { baseUrl, model, apiKey } = endpointOf("writer", writer, env);
      const open = async () => {
        const { openChatWriter } = await import("../writers/chat/chat-writer.ts");
        const systemPrompt = systemPromptOf(writer);
        const chat = openChatWriter({ ...writer, systemPrompt, baseUrl, model, apiKey });
        return behindReplies(chat, null, writer);
      };
      return { name: model, open };
    }
  }
}
