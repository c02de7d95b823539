/** A call as it crosses into the thread. */
export interface Order {
  readonly id: number;
  readonly operation: string;
  readonly parameters: readonly unknown[];
}

/** Its answer: what the operation returned, or what it threw, as {@link answerCalls} was told to put it. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly thrown: unknown };
