/** Large transfers by a visitor, measured by what arrived: the bytes and their SHA-256. */
import { createHash } from "node:crypto"
import { request } from "node:https"
import { pour } from "./Origins.ts"
import type { Target } from "./Visitor.ts"

export interface Arrived {
  readonly digest: string
  readonly size: number
}

const optionsOf = ({ ca, host, port }: Target) => ({ host: "127.0.0.1", port, servername: host, ca, agent: false })

/** Reads the answer to its end. Rejects when it breaks off or is another than 200. `onBytes` hears how many have come so far. */
export const download = (target: Target, path: string, onBytes = (_size: number) => {}): Promise<Arrived> =>
  new Promise((resolve, reject) => {
    const hash = createHash("sha256")
    let size = 0
    request({ ...optionsOf(target), path, headers: { host: target.host } }, (response) => {
      response.on("data", (chunk: Buffer) => {
        hash.update(chunk)
        size += chunk.length
        onBytes(size)
      })
      response.on("error", reject)
      response.on("end", () =>
        response.statusCode === 200
          ? resolve({ digest: hash.digest("hex"), size })
          : reject(new Error(`status ${response.statusCode}`))
      )
    })
      .on("error", reject)
      .end()
  })

/** Sends the test stream, chunked when no length is announced; resolves with what the origin says has arrived. */
export const upload = (target: Target, size: number, chunked: boolean): Promise<Arrived> =>
  new Promise((resolve, reject) => {
    const headers = { host: target.host, ...(chunked ? {} : { "content-length": String(size) }) }
    const outgoing = request({ ...optionsOf(target), method: "POST", path: "/digest", headers }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => {
        const body = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve(JSON.parse(body))
        else reject(new Error(`status ${response.statusCode}`))
      })
    })
    outgoing.on("error", reject)
    pour(outgoing, size)
  })
