/**
 * What the operating system said when it was asked for a port, as one sentence with the remedy; anything else as it is.
 */
export function asListenError(error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return error;
  const { code, syscall, address, port, hostname } = error as SystemError;
  const sentence = SENTENCES[code]?.({ host: address ?? hostname ?? "", port: `${port}` });
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

const SENTENCES: Readonly<Record<string, (at: { host: string; port: string }) => string>> = {
  EADDRINUSE: ({ host, port }) =>
    `The port ${port} of ${host} is in use: stop what uses it, or choose another with --port.`,
  EADDRNOTAVAIL: ({ host }) => `The address ${host} is not one of this machine: choose another with --host.`,
  EACCES: ({ host, port }) =>
    `The port ${port} of ${host} is not for ordinary users: choose one from 1024 on with --port.`,
  ENOTFOUND: ({ host }) => `The address ${host} is not known: choose another with --host.`,
};
