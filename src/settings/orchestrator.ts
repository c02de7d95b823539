import { isIP } from "node:net";

/**
 * Whether a variable is one that Kubernetes or Docker sets by itself, for a service or a linked container that is named
 * `antiphon` or `antiphon-…`. Both its name and its value have to look so: a setting with a wrong value is none of them.
 */
export function isOrchestrators(variable: string, text: string): boolean {
  return SHAPES.some(({ ending, holds }) => ending.test(variable) && holds(text));
}

interface Shape {
  /** How its name ends, after that of the service. */
  readonly ending: RegExp;
  /** Whether a text is what it holds. */
  holds(text: string): boolean;
}

const SHAPES: readonly Shape[] = [
  // Kubernetes: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
  { ending: /_SERVICE_HOST$/, holds: isAddress },
  { ending: /_SERVICE_PORT(_[A-Z0-9_]+)?$/, holds: isPort },
  // Docker's links, and Kubernetes for their sake: https://docs.docker.com/engine/network/links/#environment-variables
  { ending: /_PORT(_\d+_(TCP|UDP|SCTP)(_START|_END)?)?$/, holds: isEndpoint },
  { ending: /_PORT_\d+_(TCP|UDP|SCTP)_ADDR$/, holds: isAddress },
  { ending: /_PORT_\d+_(TCP|UDP|SCTP)_PORT(_START|_END)?$/, holds: isPort },
  { ending: /_PORT_\d+_(TCP|UDP|SCTP)_PROTO$/, holds: (text) => /^(tcp|udp|sctp)$/.test(text) },
  // Docker alone: which container is linked as what, and the environment that it has itself.
  { ending: /_NAME$/, holds: (text) => /^\/[^/]+\/[^/]+$/.test(text) },
  { ending: /_ENV_\w+$/, holds: () => true },
];

function isAddress(text: string): boolean {
  return isIP(text) !== 0;
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
}

/** As in `tcp://10.0.0.1:8080` or `udp://[fd00::1]:53`. */
function isEndpoint(text: string): boolean {
  const [, host = "", port = ""] = /^(?:tcp|udp|sctp):\/\/(.+):(\d+)$/.exec(text) ?? [];
  return isAddress(host.replace(/^\[(.*)\]$/, "$1")) && isPort(port);
}
