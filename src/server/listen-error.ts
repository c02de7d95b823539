/**
 * What the operating system said when it was asked for a port, as one sentence with the remedy; anything else as it is.
 *
 * @param flags those that choose another address and port
 */
export function asListenError(error: unknown, flags = { host: "--host", port: "--port" }): unknown {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return error;
  const { code, syscall, address, port, hostname } = error as SystemError;
  const sentence = SENTENCES[code]?.({ host: address ?? hostname ?? "", port: `${port}`, flags });
  return (syscall === "listen" || syscall === "getaddrinfo") && sentence !== undefined
    ? new Error(sentence, { cause: error })
    : error;
}

interface SystemError {
  readonly code: string;
  readonly syscall: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

interface At {
  readonly host: string;
  readonly port: string;
  /** Those that choose another. */
  readonly flags: { readonly host: string; readonly port: string };
}

const SENTENCES: Readonly<Record<string, (at: At) => string>> = {
  EADDRINUSE: ({ host, port, flags }) =>
    `Port ${port} of ${host} is in use: stop what uses it, or choose another with ${flags.port}.`,
  EADDRNOTAVAIL: ({ host, flags }) =>
    `The address ${host} is not one of this machine: choose another with ${flags.host}.`,
  EACCES: ({ host, port, flags }) =>
    `Port ${port} of ${host} is not for ordinary users: choose one from 1024 up with ${flags.port}.`,
  ENOTFOUND: ({ host, flags }) => `The address ${host} is not known: choose another with ${flags.host}.`,
};
