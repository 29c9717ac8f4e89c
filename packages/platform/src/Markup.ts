/** HTML by a template that escapes: a page is a function from facts to text, and no fact can become an element. */

/** Text that may stand in a page as it is. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | Markup | undefined | ReadonlyArray<Markup>

/**
 * Text as it may stand between tags and in quoted attributes.
 *
 * @example
 * ```ts
 * import { escape } from "@catenet/platform/Markup"
 *
 * if (escape("a<b") !== "a&#60;b") throw new Error("unexpected text")
 * ```
 */
export const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

const written = (part: Part): string =>
  part === undefined
    ? ""
    : typeof part === "string"
      ? escape(part)
      : part instanceof Markup
        ? part.text
        : part.map(written).join("")

/**
 * Markup with values in it: texts are escaped, markup is not, what is absent is nothing.
 *
 * @example
 * ```ts
 * import { markup } from "@catenet/platform/Markup"
 *
 * const name = "<Ada>"
 * if (markup`<p>${name}${markup`<br>`}</p>`.text !== "<p>&#60;Ada&#62;<br></p>") throw new Error("unexpected markup")
 * ```
 */
export const markup = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Markup =>
  new Markup(String.raw({ raw: strings }, ...parts.map(written)))
