import type { Socket } from "node:net";

/**
 * Calls `end` once: when the connection closes, or when what is returned is called before. Of a connection that has gone
 * already, as it may while something else is waited for, it is called at once: Node tells of a close once, and never again.
 */
export function whenClosed(socket: Socket, end: () => void): () => void {
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    socket.off("close", over);
    end();
  };
  let isOver = false;
  if (socket.destroyed) over();
  else socket.once("close", over);
  return over;
}
