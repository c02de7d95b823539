import type { Command } from "commander";
import { addGlobalOptions, settingsOf } from "./global-options.ts";

/** `antiphon check`: reads the whole database of keys and usage, beside a running server too. */
export function registerCheck(program: Command): void {
  addGlobalOptions(program.command("check"))
    .description("read the whole database of keys and usage, and report whether it is sound")
    .action(async (_options: object, command: Command) => {
      const { dataDir } = await settingsOf(command);
      const { checkDatabase } = await import("../tenancy/check-database.ts");
      checkDatabase(dataDir);
      process.stdout.write(`The database in ${dataDir} is sound.\n`);
    });
}
