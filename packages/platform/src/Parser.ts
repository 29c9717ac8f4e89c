/** How the text of a variable becomes a value, and what to call it when it is refused. */

export interface Parser<A> {
  /** What a text must be, as a noun: "a TCP port from 1 to 65535". */
  readonly expected: string
  readonly example: string | undefined
  /** What to do about a text that does not parse, where an example does not say it. */
  readonly remedy: string | undefined
  /** A secret is never repeated, and may stand in a file that `<VARIABLE>_FILE` names. */
  readonly isSecret: boolean
  /** A text that does not parse is repeated in the problem. */
  readonly isQuoted: boolean
  /** The trimmed text, which is never empty; undefined refuses it. */
  readonly parse: (text: string) => A | undefined
}

interface Options {
  readonly example?: string
  readonly remedy?: string
  readonly isSecret?: boolean
}

export const make = <A>(
  expected: string,
  parse: (text: string) => A | undefined,
  { example, isSecret = false, remedy }: Options = {}
): Parser<A> => ({ expected, example, remedy, isSecret, isQuoted: false, parse })

/** The same texts, called otherwise. */
export const described = <A>(
  parser: Parser<A>,
  as: Partial<Pick<Parser<A>, "expected" | "example" | "remedy">>
): Parser<A> => ({ ...parser, ...as })

/** The same, and a text that does not parse is repeated in the problem. */
export const quoted = <A>(parser: Parser<A>): Parser<A> => ({ ...parser, isQuoted: !parser.isSecret })

/** Items between commas, each of which must parse; blanks around them are dropped. */
export const listOf = <A>(item: Parser<A>, expected: string, example?: string): Parser<ReadonlyArray<A>> =>
  make(
    expected,
    (text) => {
      const items = text.split(",").map((each) => item.parse(each.trim()))
      const whole = items.filter((each) => each !== undefined)
      return whole.length === items.length ? whole : undefined
    },
    { ...(example === undefined ? {} : { example }), isSecret: item.isSecret }
  )

export const text: Parser<string> = make("a text", (text) => text)

export const path: Parser<string> = make("a path", (text) => text)

/** Of what a program makes. Linux makes no folder below `/proc`, and Node asks for one there again without an end. */
export const writablePath: Parser<string> = make(
  "a path outside of /proc",
  (text) => (/^\/+proc(?:\/|$)/.test(text) ? undefined : text),
  { remedy: "name one that this user can write" }
)

const integer = (minimum: number, maximum: number) => (text: string) => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  return value >= minimum && value <= maximum ? value : undefined
}

/** Decimal digits without a sign. */
export const whole = (minimum: number, maximum: number): Parser<number> =>
  make(`a whole number from ${minimum} to ${maximum}`, integer(minimum, maximum))

export const port: Parser<number> = described(whole(1, 65_535), { expected: "a TCP port from 1 to 65535" })

/** `0` and `false` say no, `1` and `true` yes; anything else is refused. */
export const flag: Parser<boolean> = make("1 or 0", (text) =>
  /^(?:1|true)$/i.test(text) ? true : /^(?:0|false)$/i.test(text) ? false : undefined
)

const anyOf = (literals: ReadonlyArray<string>) => {
  const lower = new Set(literals)
  return (text: string) => lower.has(text.toLowerCase())
}

/** These words say no in any case, every other text says yes. */
export const flagUnless = (...literals: ReadonlyArray<string>): Parser<boolean> => {
  const no = anyOf(literals)
  return make(`a switch; ${literals.join(", ")} turn it off`, (text) => !no(text))
}

/** A number of at most nine digits; `0` and these words lift the cap. */
export const cap = (...literals: ReadonlyArray<string>): Parser<number> => {
  const lifting = [...new Set(["0", ...literals])]
  const lifts = anyOf(lifting)
  return make(`a whole number; ${lifting.join(", ")} for no cap`, (text) =>
    lifts(text) ? Number.POSITIVE_INFINITY : /^\d{1,9}$/.test(text) ? Number(text) : undefined
  )
}

/** One of these words, in any case. */
export const literal = <const A extends string>(...literals: ReadonlyArray<A>): Parser<A> =>
  make(literals.join(" or "), (text) => literals.find((word) => word === text.toLowerCase()))

/** Items between commas; blanks around them and empty items are dropped. */
export const list: Parser<ReadonlyArray<string>> = make("a comma-separated list", (text) =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")
)
