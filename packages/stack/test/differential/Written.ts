/** What the proxy wrote, read as it writes: one form for everything, and nothing else. */

export interface Written {
  readonly method: string
  readonly target: string
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string
  readonly whole: boolean
}

const chunksOf = (text: string, from: number) => {
  let body = ""
  let at = from
  for (;;) {
    const size = /^([0-9a-f]+)\r\n/.exec(text.slice(at, at + 20))
    if (size === null) return { body, end: text.length, whole: false, rest: text.slice(at) }
    const length = Number.parseInt(size[1] ?? "", 16)
    at += size[0].length
    if (length === 0) break
    body += text.slice(at, at + length)
    if (text.slice(at + length, at + length + 2) !== "\r\n") {
      return { body, end: text.length, whole: false, rest: text.slice(at + length) }
    }
    at += length + 2
  }
  if (text.slice(at, at + 2) === "\r\n") return { body, end: at + 2, whole: true, rest: "" }
  const trailers = text.indexOf("\r\n\r\n", at)
  return { body, end: trailers < 0 ? text.length : trailers + 4, whole: trailers >= 0, rest: "" }
}

/** Throws where the proxy wrote what it never should. */
export const readWritten = (text: string): ReadonlyArray<Written> => {
  const all: Array<Written> = []
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\r\n\r\n", at)
    if (end < 0) throw new Error(`a head without an end: ${JSON.stringify(text.slice(at))}`)
    const [line = "", ...lines] = text.slice(at, end).split("\r\n")
    const [, method = "", target = ""] = /^([^ ]+) ([^ ]+) HTTP\/1\.[01]$/.exec(line) ?? []
    if (method === "") throw new Error(`no request line: ${JSON.stringify(line)}`)
    const fields = lines.map((each) => {
      const [, name = "", value = ""] = /^([^:\s]+): (.*)$/s.exec(each) ?? []
      if (name === "" || /[\r\n\0]/.test(each)) throw new Error(`no field: ${JSON.stringify(each)}`)
      return [name, value] as const
    })
    const valuesOf = (name: string) => fields.flatMap(([each, value]) => (each.toLowerCase() === name ? [value] : []))
    const encodings = valuesOf("transfer-encoding")
    const lengths = valuesOf("content-length")
    if (encodings.length + lengths.length > 1) throw new Error(`two lengths: ${JSON.stringify(text)}`)
    if (encodings.length > 0) {
      const { body, end: over, whole } = chunksOf(text, end + 4)
      all.push({ method, target, fields, body, whole })
      at = over
    } else {
      const length = Number(lengths[0] ?? 0)
      const body = text.slice(end + 4, end + 4 + length)
      all.push({ method, target, fields, body, whole: body.length === length })
      at = end + 4 + length
    }
  }
  return all
}
