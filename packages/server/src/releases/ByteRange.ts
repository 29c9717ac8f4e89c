/** The `Range` of a request for a file (RFC 9110, section 14). Pure. */

export interface ByteRange {
  readonly first: number
  /** The last byte that is wanted, not the one after it. */
  readonly last: number
}

/** One range of bytes is served. Several, other units and what cannot be read count as no range, as the RFC allows. */
export const parse = (header: string | undefined, size: number): ByteRange | "whole" | "unsatisfiable" => {
  const [, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/iu.exec(header?.trim() ?? "") ?? []
  if (from === "" && to === "") return "whole"
  if (from === "") {
    const length = Math.min(Number(to), size)
    return length === 0 ? "unsatisfiable" : { first: size - length, last: size - 1 }
  }
  const first = Number(from)
  const last = to === "" ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== "" && Number(to) < first) return "whole"
  return first >= size ? "unsatisfiable" : { first, last }
}
