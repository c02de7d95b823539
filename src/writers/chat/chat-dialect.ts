import type { OpenAI } from "openai";
import type { Dialogue, ToolUse } from "../../core/writer.ts";
import { appendInstructions, type ChatStep, chatSteps } from "../dialogue-messages.ts";
import { functionOf } from "../tool-calls.ts";

/** Request fields that an endpoint accepts. */
export interface ChatDialect {
  /** Field for the maximum number of tokens. */
  readonly limitField: "max_tokens" | "max_completion_tokens";
  readonly hasUsage: boolean;
  readonly hasSystemRole: boolean;
  readonly hasTools: boolean;
  readonly hasToolChoice: boolean;
  /** Characters of history that the endpoint accepts. */
  readonly historyChars: number;
  readonly refusedTemperatures: ReadonlySet<number>;
}

export interface ChatRequestOptions {
  readonly model: string;
  readonly systemPrompt: string;
  readonly maxTokens: number;
}

/** Extra tokens for calls: arguments are longer than speech. */
const CALL_TOKENS = 1_024;

type Body = OpenAI.ChatCompletionCreateParamsStreaming;

export function firstDialect(historyChars: number): ChatDialect {
  return {
    limitField: "max_tokens",
    hasUsage: true,
    hasSystemRole: true,
    hasTools: true,
    hasToolChoice: true,
    historyChars,
    refusedTemperatures: new Set(),
  };
}

/** Builds the request's body. `top_k` is left to the model: no endpoint's standard has it. */
export function chatBody(dialogue: Dialogue, options: ChatRequestOptions, dialect: ChatDialect): Body {
  const { hasSystemRole, historyChars, limitField, hasUsage } = dialect;
  const systemPrompt = appendInstructions(options.systemPrompt, dialogue.instructions);
  const { tools = [], choice = "auto", calls = [] } = (dialect.hasTools && dialogue.toolUse) || {};
  const steps = chatSteps(dialogue, calls, {
    systemPrompt: hasSystemRole ? systemPrompt : null,
    historyChars,
  });
  const mayCall = tools.length > 0;
  const maxTokens = options.maxTokens + (mayCall ? CALL_TOKENS : 0);
  return {
    model: options.model,
    messages: (hasSystemRole ? steps : withInstructions(steps, systemPrompt)).map(messageOf),
    stream: true,
    [limitField]: Math.min(maxTokens, dialogue.maxTokens ?? maxTokens),
    ...(mayCall && { tools: tools.map(functionOf) }),
    ...(mayCall && dialect.hasToolChoice && choice !== "auto" && { tool_choice: choiceOf(choice) }),
    ...(takesTemperature(dialect, dialogue.temperature) && { temperature: dialogue.temperature }),
    ...(hasUsage && { stream_options: { include_usage: true } }),
  };
}

/**
 * Returns the dialect to try after a refusal that names a field which can be omitted or renamed, otherwise `null`.
 * Each change is made once; the history is halved until little is left.
 */
export function narrowerDialect(dialect: ChatDialect, refused: string, body: Body): ChatDialect | null {
  if (TOO_LONG.test(refused)) return withShorterHistory(dialect, body);
  if (dialect.limitField === "max_tokens" && refused.includes("max_tokens")) {
    return { ...dialect, limitField: "max_completion_tokens" };
  }
  if (/stream_options|include_usage/.test(refused) && dialect.hasUsage)
    return { ...dialect, hasUsage: false };
  if (/temperature/i.test(refused) && typeof body.temperature === "number") {
    const refusedTemperatures = new Set([...dialect.refusedTemperatures, body.temperature]);
    return { ...dialect, refusedTemperatures };
  }
  if (/tool_choice/i.test(refused) && body.tool_choice !== undefined)
    return { ...dialect, hasToolChoice: false };
  const hasCalls = body.tools !== undefined || body.messages.some(({ role }) => role === "tool");
  if (/\btools?\b|function/i.test(refused) && hasCalls) return { ...dialect, hasTools: false };
  if (SYSTEM_ROLE.test(refused) && dialect.hasSystemRole) return { ...dialect, hasSystemRole: false };
  return null;
}

const TOO_LONG =
  /context[ _-]?(?:length|size|window)|exceeds?_context|prompt is too long|too many (?:input |prompt )?tokens|reduce the length/i;
const SYSTEM_ROLE = /system[ _](?:role|message|prompt)|role\W{0,3}system/i;
const MIN_HISTORY_CHARS = 200;
/** Refused temperatures after which none is sent. */
const MAX_TEMPERATURES = 32;

/** An endpoint may refuse one temperature and accept another. */
function takesTemperature({ refusedTemperatures }: ChatDialect, temperature: number): boolean {
  return !refusedTemperatures.has(temperature) && refusedTemperatures.size < MAX_TEMPERATURES;
}

function withShorterHistory(dialect: ChatDialect, body: Body): ChatDialect | null {
  const sent = body.messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  const historyChars = Math.floor(Math.min(dialect.historyChars, sent) / 2);
  return historyChars < MIN_HISTORY_CHARS ? null : { ...dialect, historyChars };
}

/** Prepends instructions to the first user message, for models without a system role. */
function withInstructions([first, ...rest]: readonly ChatStep[], instructions: string): ChatStep[] {
  return [{ role: "user", content: `${instructions}\n\n${first?.content ?? ""}` }, ...rest];
}

type Message = Body["messages"][number];

function messageOf(step: ChatStep): Message {
  if (step.role === "tool") return { role: "tool", tool_call_id: step.callId, content: step.content };
  const { role, content, calls } = step;
  if (role !== "assistant" || calls === undefined) return { role, content };
  const tool_calls = calls.map(({ callId, name, arguments: given }) => ({
    id: callId,
    type: "function" as const,
    function: { name, arguments: given },
  }));
  return { role, content: content === "" ? null : content, tool_calls };
}

function choiceOf(choice: ToolUse["choice"]) {
  return typeof choice === "string" ? choice : { type: "function" as const, function: { name: choice.name } };
}
