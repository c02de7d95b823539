/** What `GET /metrics` says just now: the values without labels, by name. @throws Error when it does not answer. */
export async function readGauges(url: string): Promise<ReadonlyMap<string, number>> {
  const reply = await fetch(`${url}/metrics`);
  if (!reply.ok) throw new Error(`GET /metrics answered ${reply.status}`);
  return gaugesIn(await reply.text());
}

/** The same of Prometheus' text format. */
export function gaugesIn(text: string): ReadonlyMap<string, number> {
  return new Map(
    [...text.matchAll(/^([a-z_]+) ([0-9.e+-]+)$/gm)].map(([, name = "", value]) => [name, Number(value)]),
  );
}
