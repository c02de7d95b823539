import { listenWyoming, type WyomingBridge } from "../../../src/api/wyoming/bridge.ts";
import type { EventOutcome, WyomingDeps } from "../../../src/api/wyoming/requests.ts";
import { type BudgetOptions, EventLoopShare } from "../../../src/limits/event-loop-budget.ts";
import { findModel, PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { listVoices } from "../../../src/serving/voices/voice-list.ts";

/** A bridge that answers only what needs no request, with what it reported. */
export interface BareBridge extends WyomingBridge {
  readonly outcomes: EventOutcome[];
  readonly failures: unknown[];
  /** Number of slowed connections. */
  slowed: number;
}

export interface BareBridgeOptions {
  readonly budget: BudgetOptions;
  readonly recogniserName?: () => Promise<string | null>;
}

export async function bareBridge({
  budget,
  recogniserName = async () => null,
}: BareBridgeOptions): Promise<BareBridge> {
  const told = { outcomes: [] as EventOutcome[], failures: [] as unknown[], slowed: 0 };
  const deps = {
    apiKey: "none",
    version: "0",
    resolve: (id) => findModel(PUBLIC_MODELS, id),
    eventLoopShare: new EventLoopShare(),
    stallTimeoutMs: 60_000,
    recogniserName,
    listVoices: async () => listVoices([PUBLIC_MODELS[0]!.card], new Map(), []).data,
    onEvent: (outcome) => told.outcomes.push(outcome),
    onSlowed: () => {
      told.slowed++;
    },
    onFailure: (error) => told.failures.push(error),
  } satisfies Partial<WyomingDeps>;
  const bridge = await listenWyoming(deps as unknown as WyomingDeps, { host: "127.0.0.1", port: 0, budget });
  return Object.assign(told, bridge);
}
