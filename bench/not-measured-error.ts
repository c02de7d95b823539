/** A row that cannot be measured here. The message says why. */
export class NotMeasuredError extends Error {
  override readonly name = "NotMeasuredError";
}
