/** Reads small request bodies and writes JSON and HTML answers. */
import { readBounded } from "@catenet/platform/BoundedRead"
import type { IncomingMessage, ServerResponse } from "node:http"

const limit = 64 * 1024

/** The body as text; `undefined` when it is larger than 64 KiB. */
export const readText = async (request: IncomingMessage): Promise<string | undefined> =>
  (await readBounded(request, limit))?.toString("utf8")

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A JSON object; an empty body counts as `{}`; `undefined` for anything else. */
export const readJson = async (request: IncomingMessage): Promise<Readonly<Record<string, unknown>> | undefined> => {
  const source = await readText(request)
  if (source === undefined) return undefined
  if (source.trim() === "") return {}
  try {
    const value: unknown = JSON.parse(source)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const json = (response: ServerResponse, status: number, body: unknown): void => {
  response
    .writeHead(status, { "content-type": "application/json", "cache-control": "no-store" })
    .end(JSON.stringify(body))
}

/** To another address, which learns nothing of this one. */
export const redirect = (response: ServerResponse, location: string): void => {
  response.writeHead(303, { location, "cache-control": "no-store", "referrer-policy": "no-referrer" }).end()
}

/** A script of our own. */
export const script = (response: ServerResponse, body: string): void => {
  response
    .writeHead(200, {
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff"
    })
    .end(body)
}

export const html = (response: ServerResponse, status: number, policy: string, body: string): void => {
  response
    .writeHead(status, {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer"
    })
    .end(body)
}
