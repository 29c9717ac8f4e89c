/** The head of a recorded request or response, read for a person: whatever is in it, nothing is lost and nothing fails. */

export interface Field {
  readonly name: string
  readonly value: string
}

export interface MessageHead {
  /** The three parts of the first line. */
  readonly first: readonly [string, string, string]
  readonly fields: ReadonlyArray<Field>
}

const fieldOf = (line: string): Field => {
  const colon = line.indexOf(":")
  return colon < 0
    ? { name: line, value: "" }
    : { name: line.slice(0, colon), value: line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/gu, "") }
}

const firstLine = /^([^ ]*) ?([^ ]*) ?(.*)$/su

export const read = (head: Buffer): MessageHead => {
  const [first = "", ...lines] = head.toString("latin1").split("\r\n")
  const [, a = "", b = "", c = ""] = firstLine.exec(first) ?? []
  return { first: [a, b, c], fields: lines.filter((line) => line !== "").map(fieldOf) }
}

/** The value of the first field of this name. */
export const valueOf = ({ fields }: MessageHead, name: string): string | undefined =>
  fields.find((field) => field.name.toLowerCase() === name)?.value
