import { bucketsConformance } from "./buckets-conformance.ts";
import { lonelyWorld, memoryWorld } from "./buckets-worlds.ts";

bucketsConformance("in memory", memoryWorld);
bucketsConformance("guarded, with nobody behind them", lonelyWorld);
