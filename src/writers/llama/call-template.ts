import type { WriterTool } from "../../core/writer.ts";
import { type ChatStep, plainLine } from "../dialogue-messages.ts";
import { functionOf } from "../tool-calls.ts";
import type { LlamaModel, Token } from "./llama-runtime.ts";

/**
 * How a model calls functions whose file has a template for that: in a JSON object between two tags, each a token of its
 * own, as Hermes 2 Pro, Qwen 2.5, Qwen 3 and SmolLM3 were trained to.
 */
export interface CallTemplate {
  /** The tokens around a call. */
  readonly begin: Token;
  readonly end: Token;
  /** A chat with its calls, and what may be called, as the file's own template has it. What was said forges no role. */
  prompt(steps: readonly ChatStep[], tools: readonly WriterTool[]): Token[];
  /** Whether descriptions of functions take no more than so many tokens. */
  fits(tools: readonly WriterTool[], tokens: number): boolean;
}

const CALL_BEGIN = "<tool_call>";
const CALL_END = "</tool_call>";

/** `null` where the file has no template for calls, one for another form of them, or one that cannot be used. */
export async function readCallTemplate(model: LlamaModel): Promise<CallTemplate | null> {
  const source = model.fileInfo.metadata.tokenizer?.chat_template;
  if (source === undefined || !source.includes(CALL_BEGIN)) return null;
  const [begin, ...more] = model.tokenize(CALL_BEGIN, true);
  const [end, ...others] = model.tokenize(CALL_END, true);
  if (begin === undefined || end === undefined || more.length > 0 || others.length > 0) return null;
  // Loaded only where it is needed.
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
      begin,
      end,
      prompt: (steps, tools) => model.tokenize(render(steps, tools), true),
      fits(tools, tokens) {
        const written = toolsJson(tools);
        // Few tokens have more than 16 characters; what has far too many is not even counted.
        return written.length <= 16 * tokens && model.tokenize(written).length <= tokens;
      },
    };
  } catch {
    return null;
  }
}

/** Functions as JSON, whose words come from afar too. */
function toolsJson(tools: readonly WriterTool[]): string {
  return plainLine(JSON.stringify(tools.map(functionOf)));
}

/** Nobody hears a thought, and everybody waits for it. */
const NO_THINKING = { enable_thinking: false, add_generation_prompt: true };

/** A call as templates read it: with an object for arguments. */
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

/** Whether the template knew what to do with all of the trial, and writes calls in the form that is read. */
function supportsCalls(rendered: string): boolean {
  const [before = "", ...calls] = rendered.split(CALL_BEGIN);
  const [call = "", after = ""] = calls.at(-1)?.split(CALL_END) ?? [];
  const { name, arguments: given } = JSON.parse(call) as Record<string, unknown>;
  const isCall = name === "weather" && JSON.stringify(given) === '{"town":"Rome"}';
  return isCall && before.includes("Of a town.") && after.includes("It rains.");
}
