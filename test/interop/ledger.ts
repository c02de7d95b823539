import { performance } from "node:perf_hooks";
import { UnavailableError } from "./environment.ts";

/** Runs a check, which returns details, throws faults, or throws {@link UnavailableError} to be skipped. */
export type Tell = (what: string, check: () => Promise<string>) => Promise<void>;

/** Counts checks and prints them by part. */
export class Ledger {
  passed = 0;
  failed = 0;
  skipped = 0;

  async part(heading: string, attempt: (tell: Tell) => Promise<void>): Promise<void> {
    const began = performance.now();
    const lines: string[] = [];
    await attempt(async (what, check) => {
      const [mark, how] = await this.#outcomeOf(check);
      const told = how === "" ? what : `${what}: ${how}`;
      lines.push(`  ${mark}  ${told.replaceAll("\n", "\n           ")}`);
    });
    const seconds = (performance.now() - began) / 1_000;
    console.log([`${heading}, tried in ${seconds.toFixed(0)} s`, ...lines].join("\n"));
  }

  async #outcomeOf(check: () => Promise<string>): Promise<[mark: string, how: string]> {
    try {
      const how = await check();
      this.passed++;
      return ["ok     ", how];
    } catch (error) {
      const how = error instanceof Error ? error.message : `${error}`;
      if (error instanceof UnavailableError) {
        this.skipped++;
        return ["SKIPPED", how];
      }
      this.failed++;
      return ["FAILED ", how];
    }
  }
}
