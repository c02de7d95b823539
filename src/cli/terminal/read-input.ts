import { text } from "node:stream/consumers";

/** An argument as it is, or all of standard input where it is `-`. */
export async function readInput(argument: string, stdin: NodeJS.ReadableStream): Promise<string> {
  return argument === "-" ? await text(stdin) : argument;
}
