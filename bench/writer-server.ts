import { type LoadJob, runLoad } from "./load/load-job.ts";
import { type ServerProcess, startServerProcess } from "./load/server-process.ts";

/** A server with the embedded writer, loaded. @param prepare puts more into its data directory */
export async function startWriterServer(
  prepare: (dataDir: string) => Promise<void> = async () => {},
): Promise<ServerProcess> {
  const server = await startServerProcess({ prepare });
  await runLoad({ ...authored(server, SHORT_HISTORIES), requests: 8 });
  return server;
}

/** One client that asks for authored turns, one after the other. */
export function authored(server: ServerProcess, histories: readonly (readonly string[])[]): LoadJob {
  return {
    url: server.url,
    key: server.key,
    path: "/v1/converse/stream",
    bodies: histories.map(openTurnBody),
    clients: 1,
    pace: "at once",
    pauseMs: { start: 0, between: 0 },
    seed: 1,
  };
}

function openTurnBody(history: readonly string[]): string {
  const turns = history.map((text, index) => ({
    speaker: (history.length - index) % 2 === 1 ? "0" : "1",
    text,
  }));
  return JSON.stringify({ conversation: [...turns, { speaker: "1" }] });
}

const OPENINGS = [
  "I planted tomatoes this spring and they are already huge.",
  "My bus was late again this morning.",
  "What should I cook for four friends on Friday?",
  "I can't decide between a bike and a scooter.",
  "Our team won the final, can you believe it?",
  "Do you like long train rides?",
  "My grandmother turns ninety next week.",
  "I spilled coffee on my laptop.",
  "Why do leaves turn red in autumn?",
  "I'm a bit nervous about the new job.",
  "The neighbours have a new dog that barks all day.",
  "Can you recommend a board game for two?",
  "I finally finished that enormous puzzle.",
  "It has been raining for a week here.",
  "How do I get red wine out of a white shirt?",
  "I think summer is overrated.",
];

/** One turn, or three. */
export const SHORT_HISTORIES: readonly (readonly string[])[] = OPENINGS.flatMap((opening, index) => [
  [opening],
  [opening, "Oh, tell me more about that.", OPENINGS[(index + 5) % OPENINGS.length]!],
]);

/** Twenty turns, no two conversations alike, so that nothing of one helps with the next. */
export const LONG_HISTORIES: readonly (readonly string[])[] = OPENINGS.map((opening, first) => [
  opening,
  ...Array.from(
    { length: 18 },
    (_, turn) => `${OPENINGS[(first * 7 + turn * 3) % OPENINGS.length]} That is number ${turn}.`,
  ),
  "And what do you say to all that?",
]).map((turns) => turns.slice(-20));
