/**
 * Fields that rules set, add and remove, in each form in which the proxy holds a message. Names that CGI would make one are one:
 * a rule for `X-Env` also removes the visitor's `X_Env`.
 */
import type { FieldEdit } from "@catenet/domain/rules/Evaluation"
import type { Field } from "@catenet/wire/http/FieldLine"
import { hyphenated } from "@catenet/wire/transport/HttpFields"
import type { OutgoingHttpHeaders } from "node:http2"

type Edits = ReadonlyArray<FieldEdit>

const replaced = (edits: Edits) =>
  new Set(edits.filter(({ isAdded }) => isAdded !== true).map(({ key }) => hyphenated(key)))

/** The last edit that replaces a field counts. */
const given = (edits: Edits): ReadonlyArray<Field> => {
  const set = new Map<string, Field>()
  const added: Array<Field> = []
  for (const { isAdded, key, name, value } of edits)
    if (value === undefined) set.delete(key)
    else if (isAdded === true) added.push({ key, name, value })
    else set.set(key, { key, name, value })
  return [...set.values(), ...added]
}

/** Fields of a request over HTTP/1. */
export const editFields = (fields: ReadonlyArray<Field>, edits: Edits): ReadonlyArray<Field> => {
  const gone = replaced(edits)
  return [...fields.filter(({ key }) => !gone.has(hyphenated(key))), ...given(edits)]
}

/** Fields of a message as Node has them. */
export const editHeaders = <H extends OutgoingHttpHeaders>(headers: H, edits: Edits): H => {
  const gone = replaced(edits)
  const kept = Object.entries(headers).filter(([name]) => !gone.has(hyphenated(name.toLowerCase())))
  const edited = new Map(kept)
  for (const { key, value } of given(edits)) {
    const before = edited.get(key)
    edited.set(key, before === undefined ? value : `${[before].flat().join(", ")}, ${value}`)
  }
  return Object.fromEntries(edited) as H
}

const nameOf = (line: string) => hyphenated(line.slice(0, line.indexOf(":")).trim().toLowerCase())

/** The head of an answer over HTTP/1, with the empty line at its end. Lines that are folded go with the one before them. */
export const editHead = (head: Buffer, edits: Edits): Buffer => {
  const gone = replaced(edits)
  const [status = "", ...lines] = head.toString("latin1", 0, head.length - 4).split("\r\n")
  let isGone = false
  const kept = lines.filter((line) => {
    if (!/^[ \t]/u.test(line)) isGone = gone.has(nameOf(line))
    return !isGone
  })
  const own = given(edits).map(({ name, value }) => `${name}: ${value}`)
  return Buffer.from([status, ...kept, ...own, "", ""].join("\r\n"), "latin1")
}
