/** The type of a language's texts: the members of the English ones. */

export type TextsOf<T> = { [Key in keyof T]: Widened<T[Key]> }
type Widened<T> = T extends string
  ? string
  : T extends ReadonlyMap<unknown, unknown>
    ? T
    : T extends (...args: infer A) => string
      ? (...args: A) => string
      : { readonly [K in keyof T]: string }
