/** Looks for a private key in recorded bytes: as it lies in its file, its numbers alone, and in any text form, within others too. */
import { createPrivateKey } from "node:crypto"

/** What is to be found nowhere. */
const tracesOf = (pem: string): ReadonlyArray<Buffer> => {
  const key = createPrivateKey(pem)
  const scalar = Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url")
  if (scalar.length !== 32) throw new Error("no key of P-256")
  // A line without a byte of the scalar is of the public key, which certificates hold.
  const lines = pem.split("\n").filter((line) => {
    const bytes = Buffer.from(line, "base64")
    return !line.startsWith("-----") && (bytes.includes(scalar.subarray(0, 8)) || bytes.includes(scalar.subarray(-8)))
  })
  if (lines.length === 0) throw new Error("no line holds the key")
  return [
    scalar,
    Buffer.from(scalar).reverse(),
    Buffer.from(scalar.toString("hex")),
    Buffer.from(scalar.toString("hex").toUpperCase()),
    Buffer.from(scalar.toString("base64").slice(0, 42)),
    Buffer.from(scalar.toString("base64url").slice(0, 42)),
    ...lines.map((line) => Buffer.from(line))
  ]
}

const encoded = /[A-Za-z0-9_+/-]{40,}/g
/** Requests of ACME hold a request for a certificate in base64url in JSON in base64url. */
const maxNested = 4

/** The bytes, and what stands in them in base64, and so on; every text at each of the four places where it may begin. */
function* layers(bytes: Buffer, nested = 0): Generator<Buffer> {
  yield bytes
  if (nested >= maxNested) return
  for (const [run] of bytes.toString("latin1").matchAll(encoded))
    for (let skipped = 0; skipped < 4; skipped++) yield* layers(Buffer.from(run.slice(skipped), "base64"), nested + 1)
}

/** How often something of the key is in the bytes. */
export const traces = (pem: string, bytes: Buffer): number => {
  const wanted = tracesOf(pem)
  let found = 0
  for (const layer of layers(bytes)) for (const trace of wanted) if (layer.includes(trace)) found++
  return found
}

/** The request for a certificate that was sent to the authority, DER. */
export const certificateRequest = (bytes: Buffer): Buffer | undefined => {
  for (const layer of layers(bytes)) {
    const csr = /^\{"csr":"([\w-]+)"\}/.exec(layer.toString("latin1"))?.[1]
    if (csr !== undefined) return Buffer.from(csr, "base64url")
  }
  return undefined
}
