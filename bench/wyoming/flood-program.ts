import { connect, type Socket } from "node:net";
import type { FloodJob, FloodTally } from "./flood-job.ts";

const EVENT = Buffer.from(`${JSON.stringify({ type: "describe" })}\n`);
const EVENTS_A_PIECE = 2_000;
const PIECE = Buffer.concat(Array<Buffer>(EVENTS_A_PIECE).fill(EVENT));
/** From the end of a connection to the next one. */
const PAUSE_MS = 100;

/** Does what the first message says, tells that it has begun, and at the second says what came of it and ends. */
process.once("message", (job: FloodJob) => {
  let [events, answerBytes, ended] = [0, 0, 0];
  const pour = (socket: Socket): void => {
    do events += EVENTS_A_PIECE;
    while (socket.write(PIECE));
  };
  const open = (): void => {
    const socket = connect({ host: job.host, port: job.port });
    if (job.reads) {
      socket.on("data", (piece: Buffer) => {
        answerBytes += piece.length;
      });
    } else socket.pause();
    socket.on("connect", () => pour(socket));
    socket.on("drain", () => pour(socket));
    socket.on("error", () => {});
    socket.on("close", () => {
      ended += 1;
      setTimeout(open, PAUSE_MS);
    });
  };
  for (let count = 0; count < job.connections; count++) open();
  process.send?.("begun");
  process.once("message", () => {
    const tally: FloodTally = { events, answerBytes, ended };
    process.send?.(tally, () => process.exit());
  });
});
// Nobody is left to be told.
process.once("disconnect", () => process.exit());
