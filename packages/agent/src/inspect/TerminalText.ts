/** The inspector's list and requests for a terminal. Whatever comes from traffic is escaped. */
import { printable } from "../terminal/Log.ts"
import { bytes } from "../terminal/StatusLine.ts"
import { pretty } from "./BodyText.ts"
import type { Detail, Message, Summary } from "./ExchangeView.ts"

const millis = (value: number | null) =>
  value === null ? "not known" : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`

const statusOf = ({ failure, state, status }: Summary) =>
  failure !== null ? `${status ?? "---"}!` : (status?.toString() ?? (state === "running" ? "..." : "---"))

const row = (one: Summary) => {
  const { calls, id, kind, method, response_bytes, service, started, target, took_ms } = one
  const what = `${kind === "http" ? "" : `  [${[kind, ...calls].join(" ")}]`}${service === null ? "" : `  (${service})`}`
  const took = took_ms === null ? "" : millis(took_ms)
  return printable(
    `${String(id).padStart(5)}  ${started.slice(11, 19)}  ${statusOf(one).padEnd(4)}  ${took.padStart(8)}  ${bytes(response_bytes).padStart(7)}  ${method} ${target}${what}`
  )
}

/** The newest last, as in a log. */
export const list = (summaries: ReadonlyArray<Summary>): string =>
  summaries.length === 0 ? "No request is recorded." : summaries.toReversed().map(row).join("\n")

const linesOf = (text: string) => text.split(/\r?\n/u).map((line) => line.split("\t").map(printable).join("    "))

const message = ({ body, first, headers }: Message, arrow: string): ReadonlyArray<string> => [
  `${arrow} ${printable(first.join(" ").trimEnd())}`,
  ...headers.map(({ name, value }) => `${arrow} ${printable(`${name}: ${value}`)}`),
  ...(body.bytes === 0 ? [] : [""]),
  ...(body.text === null ? [] : linesOf(pretty(body.text))),
  ...(body.text === null && body.bytes > 0 ? [`(${bytes(body.bytes)}, no text)`] : []),
  ...(body.kept < body.bytes ? [`(the first ${bytes(body.kept)} of ${bytes(body.bytes)} are kept)`] : [])
]

export const detail = (one: Detail): string => {
  const { connect, receive, send, total, wait } = one.timing
  const times = [
    `edge not known`,
    `connect ${connect === null ? "none" : millis(connect)}`,
    `send ${millis(send)}`,
    `wait ${millis(wait)}`,
    `receive ${millis(receive)}`,
    `in all ${millis(total)}`
  ]
  return [
    row(one),
    `visitor ${printable(one.client ?? "-")}, HTTP/${one.http_version}, TLS ended by the ${one.tls_ended_by}`,
    `time: ${times.join(", ")}`,
    ...(one.failure === null ? [] : [`failed: ${printable(one.failure)}`]),
    ...one.mcp.flatMap(({ answer, method, name, params }) => [
      "",
      `call ${printable(method)} ${printable(name ?? "")}`.trimEnd(),
      ...linesOf(JSON.stringify(params ?? null, null, 2)),
      answer === undefined ? "no answer" : "error" in answer ? "error" : "result",
      ...(answer === undefined
        ? []
        : linesOf(JSON.stringify("error" in answer ? answer.error : answer.result, null, 2) ?? ""))
    ]),
    "",
    ...message(one.request, ">"),
    ...(one.response === null ? [] : ["", ...message(one.response, "<")]),
    ...one.frames.map(({ at, from, kind, size, text }) =>
      printable(`${from === "visitor" ? ">" : "<"} ${millis(at).padStart(9)} ${kind} ${text ?? `(${bytes(size)})`}`)
    )
  ].join("\n")
}
