import type { Turn } from "../../core/conversation.ts";
import { type Dialogue, WriterError } from "../../core/writer.ts";
import { appendInstructions, type ChatMessage, type MessageOptions } from "../dialogue-messages.ts";
import type { LlamaModel, LlamaRuntime, Token } from "./llama-runtime.ts";

/** Messages as the tokens that a model reads before it writes the assistant's next one. What people said forges no role. */
export type RenderPrompt = (messages: readonly ChatMessage[]) => Token[];

/**
 * How messages become a prompt: by the template in the model's file (`own`), as ChatML, or as ChatML whose reply begins
 * with an empty thought, as reasoning models' templates do when thinking is off.
 */
export type PromptTemplate = "own" | "chatml" | "chatml-unthinking";

/**
 * The prompt that a template makes.
 *
 * @throws WriterError when the file's own is none; its cause names the file where there is none at all.
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
    // Some say only when they are used that they cannot be.
    prompt(TRIAL);
    return prompt;
  } catch (cause) {
    throw new WriterError("the chat template of the writer's file cannot be used: choose another file", {
      cause,
    });
  }
}

/** What of a dialogue is read. */
export interface PromptOptions {
  /** A request's instructions are read after it. */
  readonly systemPrompt: string;
  /** How much of the conversation is read. */
  readonly window: WindowOptions;
  /** Tokens that the model can hold of one conversation, its own reply included. */
  readonly contextTokens: number;
  /** Of a reply. */
  readonly maxTokens: number;
}

/** The tokens that there is room for in a prompt. */
export function maxPromptTokens({ contextTokens, maxTokens }: PromptOptions): number {
  return contextTokens - maxTokens - 8;
}

/** How much of a dialogue is read: its newest turns, and of those as much as the options say. */
export type RenderDialogue = (newest: readonly Turn[], options: MessageOptions) => Token[];

/** The tokens of a dialogue: as much of it as fits into `room`. */
export function promptTokens(
  prompt: RenderDialogue,
  { history, instructions }: Dialogue,
  { window, systemPrompt }: PromptOptions,
  room: number,
): Token[] {
  const newest = historyWindow(history, window);
  // A token is a character at least; what is odder than words is tried again, shorter.
  for (let share = 1; ; share /= 2) {
    const historyChars = Math.max(MIN_CHARS, Math.floor(window.maxChars * share));
    // Instructions are short, and cut only where hardly any history is left.
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
/** Eight times as many code units as any have. */
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

/**
 * ChatML (`<|im_start|>role`, a line's end, the text, `<|im_end|>`). `begun` is the text that the
 * reply starts with; its tags become single tokens.
 */
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

/** The chat template that the model's file carries; `null` for none. */
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

/** A template that asks whether to think is told not to: nobody hears a thought, and everybody waits for it. */
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
    // The open reply is an empty one at the end.
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
  /** Characters of text that are kept at most; the newest turn always is. */
  readonly maxChars: number;
  /** The window moves on by so many characters at once, and not with every turn. */
  readonly stepChars: number;
}

/**
 * The newest turns of a history. As a conversation grows the window's start stays where it is for a few turns, so that
 * a language model need not read again what it has in its cache.
 */
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
