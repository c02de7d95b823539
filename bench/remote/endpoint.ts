import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Command } from "commander";
import { wavHeader } from "../../src/audio/encode-wav.ts";
import { FRAME_S } from "../../src/audio/format.ts";

/** Frames come at twice the pace of speech, the first at once. */
const FRAME_MS = (FRAME_S * 1_000) / 2;

/**
 * An endpoint for speech that computes nothing: answers each request with a WAV of a tone, a frame at a time, as long as
 * its text would take.
 */
new Command("endpoint")
  .requiredOption("--port <n>")
  .option("--rate <hz>", "", "24000")
  .option("--data-dir <dir>")
  .action(({ port, rate }: { port: string; rate: string }) => {
    const rateHz = Number(rate);
    const samples = Math.round(FRAME_S * rateHz);
    const frame = Buffer.alloc(2 * samples);
    for (let at = 0; at < samples; at++) {
      frame.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * 25 * at) / samples)), 2 * at);
    }
    const head = wavHeader(0xffff_ffff, rateHz);
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const { input } = JSON.parse(Buffer.concat(pieces).toString()) as { input: string };
        let left = Math.ceil(input.length / 18 / FRAME_S);
        response.writeHead(200, { "content-type": "audio/wav" });
        response.socket?.setNoDelay(true);
        response.write(Buffer.concat([head, frame]));
        const timer = setInterval(() => {
          left -= 1;
          if (left > 0) response.write(frame);
          else response.end();
        }, FRAME_MS);
        response.once("close", () => clearInterval(timer));
      });
    });
    server.listen(Number(port), "127.0.0.1", () => {
      const { port: taken } = server.address() as AddressInfo;
      process.stdout.write(`Antiphon is listening on http://127.0.0.1:${taken}\n`);
    });
    process.once("SIGTERM", () => {
      server.close();
      server.closeAllConnections();
    });
  })
  .parse();
