/** The client closed its connection, or has read nothing for too long. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}
