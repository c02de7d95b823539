/** A text as a message may quote it: without the user and the password that an address in it may hold. */
export function withoutLogins(text: string): string {
  return text.replace(/:\/\/[^\s"\\]*@/g, "://…@");
}
