import { createHash, createSign, generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { assert, describe, it } from "vitest"
import { created, type Passkey, PasskeyRefused, type Reason, used } from "../src/Passkeys.ts"

const site = { id: "auth.example.test", origin: "https://auth.example.test" }
const challenge = "Y2hhbGxlbmdl"
const sha256 = (data: Buffer | string) => createHash("sha256").update(data).digest()
const text = (data: Buffer | string) => Buffer.from(data).toString("base64url")

interface Answer {
  readonly type?: string
  readonly challenge?: string
  readonly origin?: string
  readonly crossOrigin?: boolean
  readonly rpId?: string
  readonly flags?: number
  readonly counter?: number
  readonly userHandle?: string
  readonly signWith?: KeyObject
  /** Is put over what is sent. */
  readonly sent?: Readonly<Record<string, unknown>>
}

const clientData = (type: string, answer: Answer) =>
  Buffer.from(
    JSON.stringify({
      type: answer.type ?? type,
      challenge: answer.challenge ?? challenge,
      origin: answer.origin ?? site.origin,
      crossOrigin: answer.crossOrigin ?? false
    })
  )

const authenticatorData = (
  flags: number,
  { counter = 1, rpId = site.id, ...answer }: Answer,
  tail = Buffer.alloc(0)
) => {
  const head = Buffer.alloc(5)
  head.writeUInt8(answer.flags ?? flags)
  head.writeUInt32BE(counter, 1)
  return Buffer.concat([sha256(rpId), head, tail])
}

/** A key with the algorithm by which it signs, as an authenticator has it. */
const keys = {
  es256: { ...generateKeyPairSync("ec", { namedCurve: "P-256" }), algorithm: -7 },
  eddsa: { ...generateKeyPairSync("ed25519"), algorithm: -8 },
  rs256: { ...generateKeyPairSync("rsa", { modulusLength: 2048 }), algorithm: -257 }
}
const { es256 } = keys
const credentialId = Buffer.alloc(16, 7)

const creation = (
  answer: Answer = {},
  { algorithm, publicKey }: { algorithm: number; publicKey: KeyObject } = es256
) => {
  const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, credentialId.length]), credentialId])
  return JSON.stringify({
    id: text(credentialId),
    clientData: text(clientData("webauthn.create", answer)),
    authenticatorData: text(authenticatorData(0x45, answer, attested)),
    publicKey: text(publicKey.export({ format: "der", type: "spki" })),
    algorithm,
    ...answer.sent
  })
}

const assertion = (answer: Answer = {}, { algorithm, privateKey } = es256) => {
  const client = clientData("webauthn.get", answer)
  const data = authenticatorData(0x05, answer)
  const signed = Buffer.concat([data, sha256(client)])
  const key = answer.signWith ?? privateKey
  const signature = algorithm === -8 ? sign(null, signed, key) : createSign("sha256").update(signed).sign(key)
  return JSON.stringify({
    id: text(credentialId),
    clientData: text(client),
    authenticatorData: text(data),
    signature: text(signature),
    userHandle: text(answer.userHandle ?? "ada"),
    ...answer.sent
  })
}

const store = (passkey: Passkey) => {
  const held = { ...passkey }
  return {
    byId: async (id: string) => (id === held.id ? { ...held } : undefined),
    use: async (_: string, before: number, counter: number) => {
      if (held.counter !== before) return false
      held.counter = counter
      return true
    }
  }
}

const passkeyWith = (answer: Answer, key: typeof es256 = es256): Passkey => ({
  ...created(creation(answer, key), challenge, site),
  userId: "ada",
  at: 1
})

const reasonOf = async (run: () => unknown): Promise<Reason | "taken"> => {
  try {
    await run()
    return "taken"
  } catch (error) {
    if (error instanceof PasskeyRefused) return error.reason
    throw error
  }
}

describe("passkeys", () => {
  it("sign in with each algorithm that a page asks for", async () => {
    for (const key of Object.values(keys) as Array<typeof es256>) {
      const passkey = passkeyWith({}, key)
      assert.strictEqual(passkey.algorithm, key.algorithm)
      assert.strictEqual((await used(assertion({ counter: 2 }, key), challenge, site, store(passkey))).userId, "ada")
    }
  })

  it("are not made for another page, origin or site, or without the person", async () => {
    const weak = generateKeyPairSync("rsa", { modulusLength: 1024 })
    for (const [reason, text_] of [
      ["type", creation({ type: "webauthn.get" })],
      ["challenge", creation({ challenge: "b3RoZXI" })],
      ["origin", creation({ origin: "https://evil.example" })],
      ["origin", creation({ origin: "https://auth.example.test:8443" })],
      ["origin", creation({ origin: "http://auth.example.test" })],
      ["origin", creation({ crossOrigin: true })],
      ["site", creation({ rpId: "example.test" })],
      ["verification", creation({ flags: 0x41 })],
      ["verification", creation({ flags: 0x44 })],
      ["form", creation({ flags: 0x05 })],
      ["form", creation({ sent: { id: text("another") } })],
      ["form", creation({ sent: { authenticatorData: text(Buffer.alloc(36)) } })],
      ["form", creation({ sent: { clientData: "not base64url!" } })],
      ["form", creation({ sent: { clientData: text("[]") } })],
      ["form", "{"],
      ["form", "[]"],
      ["key", creation({ sent: { publicKey: text("no key") } })],
      ["key", creation({ sent: { algorithm: -257 } })],
      ["key", creation({ sent: { algorithm: -65535 } })],
      ["key", creation({}, { publicKey: weak.publicKey, algorithm: -257 })]
    ] as const)
      assert.strictEqual(await reasonOf(() => created(text_, challenge, site)), reason, text_)
  })

  it("sign nobody in by another key, page, origin, site or user, or without the person", async () => {
    const passkey = passkeyWith({})
    const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
    for (const [reason, answer] of [
      ["type", { type: "webauthn.create" }],
      ["challenge", { challenge: "b3RoZXI" }],
      ["origin", { origin: "https://evil.example" }],
      ["origin", { crossOrigin: true }],
      ["site", { rpId: "evil.example" }],
      ["verification", { flags: 0x01 }],
      ["key", { userHandle: "eve" }],
      ["key", { sent: { id: text("another") } }],
      ["form", { sent: { signature: undefined } }],
      ["signature", { signWith: other }],
      ["signature", { sent: { signature: text("no signature") } }]
    ] as ReadonlyArray<readonly [Reason, Answer]>)
      assert.strictEqual(
        await reasonOf(() => used(assertion({ counter: 9, ...answer }), challenge, site, store(passkey))),
        reason,
        JSON.stringify(answer)
      )
  })

  it("that count are taken once for each count, and one that goes back is a copy", async () => {
    const held = store(passkeyWith({ counter: 5 }))
    const use = (counter: number) => reasonOf(() => used(assertion({ counter }), challenge, site, held))
    assert.strictEqual(await use(5), "counter")
    assert.strictEqual(await use(6), "taken")
    assert.strictEqual(await use(6), "counter")
    assert.strictEqual(await use(0), "counter")
    assert.deepStrictEqual((await Promise.all([use(7), use(7)])).toSorted(), ["counter", "taken"])
    const never = store(passkeyWith({ counter: 0 }))
    for (const _ of [1, 2])
      assert.strictEqual(await reasonOf(() => used(assertion({ counter: 0 }), challenge, site, never)), "taken")
  })
})
