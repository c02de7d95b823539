import { type Bridge, listen } from "../wyoming/bridge.ts";
import { keyIsGone, type WyomingDeps } from "../wyoming/requests.ts";
import { asListenError } from "./listen-error.ts";
import { version } from "./version.ts";
import type { WyomingPlace } from "./wyoming-place.ts";

export type WyomingParts = Omit<WyomingDeps, "apiKey" | "version" | `on${string}`>;

/** Listens where the settings say. Rejects when the bridge's key is not one of the server's, or the port cannot be taken. */
export async function composeWyoming(
  { host, port, apiKey }: WyomingPlace,
  deps: WyomingParts,
): Promise<Bridge> {
  const { metrics, logger } = deps;
  if ((await deps.tenancy.authenticate(apiKey)) === null) throw new Error(sentence(keyIsGone().message));
  const bridge: WyomingDeps = {
    ...deps,
    apiKey,
    version: version(),
    onEvent: (outcome) => metrics.wyomingEvent(outcome),
    onSlowed: () => logger.warn("wyoming connection slowed"),
    onFailure: (error) => logger.error({ err: withoutWords(error) }, "wyoming connection failed"),
  };
  try {
    return await listen(bridge, { host, port });
  } catch (error) {
    throw asListenError(error, { host: "--wyoming", port: "--wyoming" });
  }
}

/** What was thrown, by its name and where: its message may quote what a client sent. */
function withoutWords(error: unknown): { readonly type: string; readonly stack: string } {
  if (!(error instanceof Error)) return { type: typeof error, stack: "" };
  const { name, message, stack = "" } = error;
  const frames = stack.slice(stack.indexOf(message) + message.length).split("\n");
  return { type: name, stack: frames.filter((line) => line.startsWith("    at ")).join("\n") };
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
