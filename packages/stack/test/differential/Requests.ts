/** Requests that two parsers may read differently: good ones, changed where parsers are known to differ. */
import { mutate, type Random } from "@catenet/testing/edge/fuzz/Mutation"
import { prototypeNames } from "@catenet/testing/edge/fuzz/PrototypeNames"

const hidden = (host: string) => `GET /hidden HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n`

const samples = (host: string): ReadonlyArray<string> => {
  const get = `GET /a?b=c HTTP/1.1\r\nHost: ${host}\r\nAccept: */*\r\n\r\n`
  const length = `POST /l HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${hidden(host).length}\r\n\r\n${hidden(host)}`
  const size = hidden(host).length.toString(16)
  const chunked = `POST /c HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n${hidden(host)}\r\n3;x=y\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n`
  return [
    get,
    length,
    chunked,
    get + length + get,
    chunked + get,
    `GET http://${host}/abs HTTP/1.1\r\nHost: ${host}\r\n\r\n${get}`,
    `GET /old HTTP/1.0\r\nHost: ${host}\r\nConnection: keep-alive\r\n\r\n${get}`,
    `OPTIONS * HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${hidden(host)}`,
    `GET /last HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n${hidden(host)}`
  ]
}

/** Field lines that change how a message is read, by whom it was sent or where it goes, for those who are lenient. */
const lines: ReadonlyArray<string> = [
  "Content-Length: 0",
  "Content-Length: 3",
  "Content-Length: 3, 3",
  "Content-Length: +3",
  "Content-Length: 0x3",
  "Content_Length: 3",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding:\tchunked",
  "Transfer-Encoding: \xa0chunked",
  "Transfer-Encoding: \x0bchunked",
  "Transfer-Encoding : chunked",
  "Transfer_Encoding: chunked",
  " Transfer-Encoding: chunked",
  "X:\nTransfer-Encoding: chunked",
  "X:\nContent-Length: 3",
  "X:\nHost: evil",
  "X:\nX-Forwarded-For: 6.6.6.6",
  "X: a\rX-Forwarded-For: 6.6.6.6",
  "X: a\x85X-Forwarded-For: 6.6.6.6",
  "X: a\x0bX-Forwarded-For: 6.6.6.6",
  "X: a\x1cX-Forwarded-For: 6.6.6.6",
  "X: a\0X-Forwarded-For: 6.6.6.6",
  "X: a\x85\x0aX-Forwarded-For: 6.6.6.6",
  "X-Forwarded-For: 6.6.6.6",
  "X_Forwarded_For: 6.6.6.6",
  "X-Forwarded-For : 6.6.6.6",
  "X-Forwarded-For\x00: 6.6.6.6",
  "Forwarded: for=6.6.6.6",
  "X-Real-Ip: 6.6.6.6",
  "Connection: X-Forwarded-For, X-Forwarded-Host, Host",
  "Connection: close",
  "Connection: keep-alive",
  "Host: evil",
  "Host:\tevil",
  "hOsT: evil",
  "Expect: 100-continue",
  "TE: trailers",
  "Trailer: X-Forwarded-For",
  "Upgrade: h2c",
  "X: \xff\xfe",
  ...prototypeNames.map((name) => `${name}: x`)
]

/** Bytes at which parsers differ. */
const bytes = [
  "\n",
  "\r",
  "\r\n",
  "\r\n\r\n",
  "\0",
  "\t",
  " ",
  "\x0b",
  "\x0c",
  "\x1c",
  "\x7f",
  "\x85",
  "\xa0",
  "\xff",
  ":",
  ",",
  ";",
  "#",
  "0"
]

type Change = (text: string, random: Random) => string

const insert = (text: string, at: number, more: string) => text.slice(0, at) + more + text.slice(at)

/** Where a line ends, one of them. */
const lineEnd = (text: string, { below }: Random) => {
  const ends = Array.from(text.matchAll(/\r\n/g), ({ index }) => index)
  return ends[below(ends.length)] ?? text.length
}

const changes: ReadonlyArray<Change> = [
  (text, random) => insert(text, lineEnd(text, random), `\r\n${lines[random.below(lines.length)]}`),
  (text, random) => insert(text, lineEnd(text, random), `\r\n${lines[random.below(lines.length)]}`),
  (text, random) => insert(text, random.below(text.length + 1), bytes[random.below(bytes.length)] ?? ""),
  (text, random) => insert(text, lineEnd(text, random), bytes[random.below(bytes.length)] ?? ""),
  (text, random) => {
    const at = lineEnd(text, random)
    return text.slice(0, at) + (["\n", "\r", "", "\r\r\n", "\r\n "][random.below(5)] ?? "") + text.slice(at + 2)
  },
  (text, random) => (bytes[random.below(bytes.length)] ?? "") + text,
  (text, random) =>
    text.replace(/HTTP\/1\.1/, ["HTTP/1.0", "HTTP/1.2", "http/1.1", "HTTP/0.9", "HTTP/1.1 "][random.below(5)] ?? ""),
  (text, random) =>
    text.replace(/^[A-Z]+/, ["-X", "_", "1", "~", "%", "get", "FROB", "GET\t", ""][random.below(9)] ?? ""),
  (text, random) =>
    text.replace(
      / \/\S*/,
      [" //a", " /a b", " a", " *", " /\x85", " /#a", " http://evil/", " http://evil@a/"][random.below(8)] ?? ""
    )
]

/** One to three changes of a good request, now and then of its bytes. */
export const request = (host: string, random: Random): Buffer => {
  const good = samples(host)
  let text = good[random.below(good.length)] ?? ""
  for (let count = 1 + random.below(3); count > 0; count--)
    text = changes[random.below(changes.length)]?.(text, random) ?? text
  const whole = Buffer.from(text, "latin1")
  return random.below(8) === 0 ? mutate([whole], random) : whole
}
