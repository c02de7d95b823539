import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServiceError } from "../contract/errors.ts";
import { type Ending, RequestContext } from "../requests/request-context.ts";

/** A body on its way. */
export interface Receiving {
  readonly sinceMs: number;
  /** Whether its memory is counted, so that others may wait for it. */
  readonly isCounted: boolean;
  bytes: number;
}

/** A request that came by HTTP, from its headers to its one end. */
export class TrackedRequest extends RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Its body, while the client is to send more of it. */
  receiving: Receiving | null = null;
  /** The status that was sent where Node's own response was passed by. */
  rawStatus: number | null = null;

  constructor(request: IncomingMessage, response: ServerResponse, onEnd: (ending: Ending) => void) {
    super((ending) => {
      this.receiving = null;
      onEnd(ending);
    });
    this.request = request;
    this.response = response;
    response.once("finish", () => this.answered());
  }

  /** Ends it with an error that its client cannot be told, because it takes nothing. */
  cut(error: ServiceError): void {
    this.fail(error);
    this.leave(error.message);
    this.request.socket.destroy();
  }
}
