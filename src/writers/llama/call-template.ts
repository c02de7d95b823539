import type { WriterTool } from "../../core/writer.ts";
import { type ChatStep, plainLine } from "../dialogue-messages.ts";
import { functionOf } from "../tool-calls.ts";
import type { LlamaModel, Token } from "./llama-runtime.ts";

/**
 * The function-call format of a model's chat template: JSON between two single-token tags, as in Hermes 2 Pro, Qwen
 * 2.5, Qwen 3 and SmolLM3.
 */
export interface CallTemplate {
  /** Tags around a call. */
  readonly begin: Token;
  readonly end: Token;
  /** Renders a chat with calls and available functions. Text cannot forge a role. */
  prompt(steps: readonly ChatStep[], tools: readonly WriterTool[]): Token[];
  /** Returns whether the function descriptions take at most this many tokens. */
  fits(tools: readonly WriterTool[], tokens: number): boolean;
}

const CALL_BEGIN = "<tool_call>";
const CALL_END = "</tool_call>";

/** Returns `null` if the template has no calls, another call format or an error. */
export async function readCallTemplate(model: LlamaModel): Promise<CallTemplate | null> {
  const source = model.fileInfo.metadata.tokenizer?.chat_template;
  if (source === undefined || !source.includes(CALL_BEGIN)) return null;
  const [begin, ...more] = model.tokenize(CALL_BEGIN, true);
  const [end, ...others] = model.tokenize(CALL_END, true);
  if (begin === undefined || end === undefined || more.length > 0 || others.length > 0) return null;
  // Loaded on demand.
  const { Template } = await import("@huggingface/jinja");
  try {
    const template = new Template(source);
    const { bosString, eosString } = model.tokens;
    const fixed = { bos_token: bosString ?? "", eos_token: eosString ?? "", ...NO_THINKING };
    const render = (steps: readonly ChatStep[], tools: readonly WriterTool[]) => {
      const functions: unknown = tools.length === 0 ? null : JSON.parse(toolsJson(tools));
      return template.render({ ...fixed, messages: steps.map(messageOf), tools: functions });
    };
    if (!supportsCalls(render(TRIAL, TRIAL_TOOLS))) return null;
    return {
      begin: begin,
      end,
      prompt: (steps, tools) => model.tokenize(render(steps, tools), true),
      fits(tools, tokens) {
        const written = toolsJson(tools);
        // Skips counting what is far too long: few tokens exceed 16 characters.
        return written.length <= 16 * tokens && model.tokenize(written).length <= tokens;
      },
    };
  } catch {
    return null;
  }
}

/** Serialises functions, whose descriptions are untrusted text. */
function toolsJson(tools: readonly WriterTool[]): string {
  return plainLine(JSON.stringify(tools.map(functionOf)));
}

/** Thoughts are not spoken and delay the reply. */
const NO_THINKING = { enable_thinking: false, add_generation_prompt: true };

/** Converts arguments to an object, as templates expect. */
function messageOf(step: ChatStep) {
  if (step.role === "tool") return { role: step.role, content: step.content };
  const { role, content, calls = [] } = step;
  if (calls.length === 0) return { role, content };
  const tool_calls = calls.map(({ name, arguments: given }) => {
    const parsed: unknown = JSON.parse(given);
    return { type: "function", function: { name, arguments: parsed } };
  });
  return { role, content, tool_calls };
}

const TRIAL: readonly ChatStep[] = [
  { role: "system", content: "Be kind." },
  { role: "user", content: "How is it in Rome?" },
  {
    role: "assistant",
    content: "",
    calls: [{ callId: "1", name: "weather", arguments: '{"town": "Rome"}' }],
  },
  { role: "tool", callId: "1", content: "It rains." },
];
const TRIAL_TOOLS: readonly WriterTool[] = [{ name: "weather", description: "Of a town." }];

/** Returns whether the template rendered all of the trial and its calls can be parsed. */
function supportsCalls(rendered: string): boolean {
  const [before = "", ...calls] = rendered.split(CALL_BEGIN);
  const [call = "", after = ""] = calls.at(-1)?.split(CALL_END) ?? [];
  const { name, arguments: given } = JSON.parse(call) as Record<string, unknown>;
  const isCall = name === "weather" && JSON.stringify(given) === '{"town":"Rome"}';
  return isCall && before.includes("Of a town.") && after.includes("It rains.");
}
