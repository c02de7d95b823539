import type { Turn } from "../../core/conversation.ts";
import { type Dialogue, WriterError } from "../../core/writer.ts";
import { appendInstructions, type ChatMessage, type MessageOptions } from "../dialogue-messages.ts";
import type { LlamaModel, LlamaRuntime, Token } from "./llama-runtime.ts";

/** Renders messages as the tokens before the assistant's reply. Text cannot forge a role. */
export type RenderPrompt = (messages: readonly ChatMessage[]) => Token[];

/**
 * Prompt format: the file's own template, ChatML, or ChatML with an empty thought, as reasoning models use with
 * thinking off.
 */
export type PromptTemplate = "own" | "chatml" | "chatml-unthinking";

/**
 * Creates and tries out the renderer of a template.
 *
 * @throws WriterError when the file's template is missing or unusable; the cause names the file
 */
export function createPromptRenderer(
  template: PromptTemplate,
  model: LlamaModel,
  runtime: LlamaRuntime,
): RenderPrompt {
  if (template === "own" && ownTemplate(model) === null) {
    throw new WriterError(
      "the writer's file has no chat template: choose another file, of a model that chats",
      {
        cause: new Error(
          `${model.filename ?? "the file"} has no tokenizer.chat_template, as base models have none, and would go on with ` +
            "its prompt in place of answering: choose a GGUF whose name says Instruct, Chat or it, or one converted with its template",
        ),
      },
    );
  }
  try {
    const prompt = rendererOf(template, model, runtime);
    // Some templates fail only when used.
    prompt(TRIAL);
    return prompt;
  } catch (cause) {
    throw new WriterError("the chat template of the writer's file cannot be used: choose another file", {
      cause,
    });
  }
}

export interface PromptOptions {
  /** Precedes a request's instructions. */
  readonly systemPrompt: string;
  /** Limits of the history. */
  readonly window: WindowOptions;
  /** Context length per conversation, reply included. */
  readonly contextTokens: number;
  /** Limit of a reply. */
  readonly maxTokens: number;
}

export function maxPromptTokens({ contextTokens, maxTokens }: PromptOptions): number {
  return contextTokens - maxTokens - 8;
}

/** Renders the newest turns of a dialogue. */
export type RenderDialogue = (newest: readonly Turn[], options: MessageOptions) => Token[];

/** Renders as much of a dialogue as fits into `room` tokens. */
export function promptTokens(
  prompt: RenderDialogue,
  { history, instructions }: Dialogue,
  { window, systemPrompt }: PromptOptions,
  room: number,
): Token[] {
  const newest = historyWindow(history, window);
  // A token has at least one character; unusual text is retried with less history.
  for (let share = 1; ; share /= 2) {
    const historyChars = Math.max(MIN_CHARS, Math.floor(window.maxChars * share));
    // Instructions are cut only when hardly any history is left.
    const kept = instructions?.slice(0, MAX_INSTRUCTIONS_CHARS * share);
    const tokens = prompt(newest, {
      systemPrompt: appendInstructions(systemPrompt, kept),
      historyChars,
    });
    if (tokens.length <= room || share < MIN_SHARE) return tokens.slice(-room);
  }
}

const MIN_CHARS = 16;
const MIN_SHARE = 2 ** -10;
/** Eight times the longest instructions. */
const MAX_INSTRUCTIONS_CHARS = 32_000;

const TRIAL: readonly ChatMessage[] = [
  { role: "system", content: "Be kind." },
  { role: "user", content: "Hello." },
  { role: "assistant", content: "Hi." },
  { role: "user", content: "How are you?" },
];

function rendererOf(template: PromptTemplate, model: LlamaModel, runtime: LlamaRuntime): RenderPrompt {
  switch (template) {
    case "own":
      return byOwnTemplate(model, runtime);
    case "chatml":
      return chatMl(model);
    case "chatml-unthinking":
      return chatMl(model, "<think>\n\n</think>\n\n");
  }
}

/** Renders ChatML. `begun` starts the reply; its tags become single tokens. */
function chatMl(model: LlamaModel, begun = ""): RenderPrompt {
  const start = model.tokenize("<|im_start|>", true);
  const end = model.tokenize("<|im_end|>", true);
  const newline = model.tokenize("\n");
  return (messages) => [
    ...messages.flatMap(({ role, content }) => [
      ...start,
      ...model.tokenize(`${role}\n`),
      ...model.tokenize(content),
      ...end,
      ...newline,
    ]),
    ...start,
    ...model.tokenize("assistant\n"),
    ...model.tokenize(begun, true),
  ];
}

function ownTemplate({ fileInfo }: LlamaModel): string | null {
  const template = fileInfo.metadata.tokenizer?.chat_template;
  return template === undefined || template.trim() === "" ? null : template;
}

function byOwnTemplate(model: LlamaModel, runtime: LlamaRuntime): RenderPrompt {
  const template = ownTemplate(model);
  return template !== null && THINKING.test(template)
    ? withoutThinking(template, model, runtime)
    : byChatWrapper(model, runtime);
}

const THINKING = /enable_thinking|<think>/;

/** Disables thinking: thoughts are not spoken and delay the reply. */
function withoutThinking(template: string, model: LlamaModel, { module }: LlamaRuntime): RenderPrompt {
  const wrapper = new module.JinjaTemplateChatWrapper({
    template,
    reasoning: false,
    additionalRenderParameters: { add_generation_prompt: true },
    tokenizer: model.tokenizer,
  });
  return (messages) =>
    wrapper.generateContextState({ chatHistory: chatItems(messages) }).contextText.tokenize(model.tokenizer);
}

function byChatWrapper(model: LlamaModel, { module }: LlamaRuntime): RenderPrompt {
  const wrapper = module.resolveChatWrapper(model, {
    warningLogs: false,
    fallbackToOtherWrappersOnJinjaError: false,
  });
  return (messages) => {
    // An empty response opens the reply.
    const chatHistory = [...chatItems(messages), { type: "model" as const, response: [""] }];
    return wrapper.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer);
  };
}

function chatItems(messages: readonly ChatMessage[]) {
  return messages.map(({ role, content }) =>
    role === "assistant" ? { type: "model" as const, response: [content] } : { type: role, text: content },
  );
}

interface WindowOptions {
  /** Maximum of characters; the newest turn is always kept. */
  readonly maxChars: number;
  /** Characters dropped at a time. */
  readonly stepChars: number;
}

/** Returns the newest turns. The start moves in steps, so that a model's cache stays valid for several turns. */
export function historyWindow(
  history: readonly Turn[],
  { maxChars, stepChars }: WindowOptions,
): readonly Turn[] {
  const total = history.reduce((sum, turn) => sum + charsOf(turn), 0);
  if (total <= maxChars) return history;
  const excess = Math.ceil((total - maxChars) / stepChars) * stepChars;
  let dropped = 0;
  let first = 0;
  while (dropped < excess && first < history.length - 1) dropped += charsOf(history[first++]);
  return history.slice(first);
}

function charsOf(turn: Turn | undefined): number {
  return turn?.text?.length ?? 0;
}
