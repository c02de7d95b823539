import { setTimeout as sleep } from "node:timers/promises";
import { type HostileBody, hostileBody } from "./body-recipe.ts";
import { HostileClient } from "./hostile-client.ts";
import type { HostileGroup, HostileJob, HostileTally } from "./hostile-job.ts";

/** Does what the first message says, tells that it has begun, and at the second says what became of it and ends. */
process.once("message", (job: HostileJob) => {
  const made = new Map<string, HostileBody>();
  const bodyOf = ({ body, path }: HostileGroup): HostileBody => {
    const name = JSON.stringify([body, path]);
    const known = made.get(name) ?? hostileBody(body, path);
    made.set(name, known);
    return known;
  };
  const bodies = job.groups.map(bodyOf);
  const outcomes: Record<string, Record<string, number>> = {};
  const clients = job.groups.flatMap((group, index) =>
    Array.from({ length: group.clients }, () => {
      const client = new HostileClient(job.url, group);
      outcomes[group.name] ??= {};
      void goOn(client, group, bodies[index]!, outcomes[group.name]!);
      return client;
    }),
  );
  const begunMs = performance.now();
  const begun = process.cpuUsage();
  process.send?.("begun");
  process.once("message", () => {
    const { user, system } = process.cpuUsage(begun);
    const cpuShare = (user + system) / 1_000 / (performance.now() - begunMs);
    const tally: HostileTally = { outcomes: structuredClone(outcomes), cpuShare };
    for (const client of clients) client.close();
    process.send?.(tally, () => process.exit());
  });
});
// Nobody is left to be told.
process.once("disconnect", () => process.exit());

async function goOn(
  client: HostileClient,
  group: HostileGroup,
  body: HostileBody,
  outcomes: Record<string, number>,
): Promise<never> {
  for (;;) {
    body.freshen();
    const outcome = await client.request(body.bytes);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    await sleep(group.pauseMs);
  }
}
