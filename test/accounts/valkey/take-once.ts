import { openBuckets } from "../../../src/accounts/open.ts";

/** Takes one token from the server named by the argument, and prints the result and the log. */
const messages: string[] = [];
const settings = { kind: "valkey", prefix: "antiphon", timeoutMs: 10_000 } as const;
const buckets = await openBuckets(settings, process.argv[2] ?? null, {
  onFailure: (message) => messages.push(message),
  onTakeAlone: () => messages.push("alone"),
});
const { remaining } = await buckets.take("key_a", { rpm: 1, burst: 10 });
buckets.close();
process.stdout.write(JSON.stringify({ remaining, messages }));
