/** A recorded request as a command line of curl. */
import type { Detail } from "./ExchangeView.ts"

/** One word of a POSIX shell, whatever is in it. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** What curl sets itself, or what is about a connection that is not there any more. */
const left: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "proxy-connection",
  "te"
])
/** Fields that edge and agent add for the origin. */
const forwarding = /^(?:x-forwarded-.*|x-real-ip|forwarded|via)$/iu

export const command = ({ request }: Detail, host: string): string => {
  const [method, target] = request.first
  const { base64, bytes, kept, text } = request.body
  const words = [`curl ${quote(`https://${host}${target}`)}`]
  const hasBody = bytes > 0
  if (method !== (hasBody ? "POST" : "GET")) words.push(method === "HEAD" ? "-I" : `-X ${quote(method)}`)
  for (const { name, value } of request.headers)
    if (!left.has(name.toLowerCase()) && !forwarding.test(name))
      words.push(`-H ${quote(value === "" ? `${name};` : `${name}: ${value}`)}`)
  if (request.headers.some(({ name }) => name.toLowerCase() === "accept-encoding")) words.push("--compressed")
  if (hasBody && text !== null && kept === bytes && !text.includes("\0")) words.push(`--data-binary ${quote(text)}`)
  else if (hasBody) words.push(`--data-binary @request-body${base64 === null ? "" : ".bin"}`)
  return words.join(" \\\n  ")
}
