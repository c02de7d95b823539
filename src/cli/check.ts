import type { Command } from "commander";
import type { CommandIo } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";

/** `antiphon check`: reads the whole database of keys and usage, beside a running server too. */
export function registerCheck(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("check"))
    .description("read the whole database of keys and usage, and report whether it is sound")
    .action(async (_options: object, command: Command) => {
      const settings = await settingsOf(command, io);
      const { checkStore } = await import("../accounts/open.ts");
      const { storeUrl } = await import("../server/secret.ts");
      const what = await checkStore(settings, storeUrl(settings, io.env));
      io.stdout.write(`${what} is sound.\n`);
    });
}
