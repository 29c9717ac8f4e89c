/**
 * Reads DER (X.690) value by value: definite lengths in their shortest form, tags of one octet. What is inside a value is for
 * the caller to know.
 *
 * @internal
 */
import { Option } from "effect"

export interface Node {
  readonly tag: number
  readonly content: Uint8Array
  /** Tag, length and content. */
  readonly whole: Uint8Array
}

/** Nothing that is read here is longer. */
const maxLengthOctets = 3

const headOf = (bytes: Uint8Array): { readonly start: number; readonly length: number } | undefined => {
  const [tag, first] = bytes
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined
  if (first < 0x80) return { start: 2, length: first }
  const octets = first & 0x7f
  if (octets === 0 || octets > maxLengthOctets || bytes.length < 2 + octets) return undefined
  const digits = bytes.subarray(2, 2 + octets)
  const length = digits.reduce((all, digit) => all * 256 + digit, 0)
  return digits[0] === 0 || length < 0x80 ? undefined : { start: 2 + octets, length }
}

const first = (bytes: Uint8Array): Node | undefined => {
  const head = headOf(bytes)
  const [tag] = bytes
  if (head === undefined || tag === undefined || bytes.length < head.start + head.length) return undefined
  const end = head.start + head.length
  return { tag, content: bytes.subarray(head.start, end), whole: bytes.subarray(0, end) }
}

/** The one value that these bytes are; none where anything follows it. */
export const readNode = (bytes: Uint8Array): Option.Option<Node> => {
  const node = first(bytes)
  return node !== undefined && node.whole.length === bytes.length ? Option.some(node) : Option.none()
}

/** The values that these bytes are, one after the other. */
export const readAll = (bytes: Uint8Array): Option.Option<ReadonlyArray<Node>> => {
  const nodes: Array<Node> = []
  let rest = bytes
  while (rest.length > 0) {
    const node = first(rest)
    if (node === undefined) return Option.none()
    nodes.push(node)
    rest = rest.subarray(node.whole.length)
  }
  return Option.some(nodes)
}
