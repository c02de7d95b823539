import type { ChatMessage } from "../dialogue-messages.ts";
import type { LlamaModel, LlamaRuntime, Token } from "./llama-runtime.ts";

/** Messages as the tokens that a model reads before it writes the assistant's next one. What people said forges no role. */
export type Prompt = (messages: readonly ChatMessage[]) => Token[];

/** The prompt that a template makes. */
export function promptOf(
  template: "chatml" | "chatml-unthinking" | "own",
  model: LlamaModel,
  runtime: LlamaRuntime,
): Prompt {
  switch (template) {
    case "own":
      return ownTemplate(model, runtime);
    case "chatml":
      return chatMl(model);
    case "chatml-unthinking":
      return chatMl(model, "<think>\n\n</think>\n\n");
  }
}

/**
 * ChatML (`<|im_start|>role`, a line's end, the text, `<|im_end|>`), as the embedded writer was trained on it: nothing
 * stands before the first message. `begun` is what stands of the reply already, its tags as tokens of their own.
 */
function chatMl(model: LlamaModel, begun = ""): Prompt {
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

/** The chat template that the model's file carries; where it has none, plain lines. */
function ownTemplate(model: LlamaModel, { module }: LlamaRuntime): Prompt {
  const wrapper = module.resolveChatWrapper(model);
  return (messages) => {
    const chatHistory = messages.map(({ role, content }) =>
      role === "assistant" ? { type: "model" as const, response: [content] } : { type: role, text: content },
    );
    // The open reply is an empty one at the end.
    const history = [...chatHistory, { type: "model" as const, response: [""] }];
    const { contextText } = wrapper.generateContextState({ chatHistory: history });
    return contextText.tokenize(model.tokenizer);
  };
}
