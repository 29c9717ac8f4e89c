import * as Certificate from "@catenet/crypto/x509/Certificate"
import * as CertificateRequest from "@catenet/crypto/x509/CertificateRequest"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { execFileSync } from "node:child_process"
import { generateKeyPairSync, X509Certificate } from "node:crypto"

const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
const key = newKey()
const long = `${"a".repeat(60)}.${"b".repeat(60)}.example`

describe("a certificate request", () => {
  for (const host of ["app.example.test", long])
    it(`is verified by openssl, and read back: ${host.length} characters`, () => {
      const der = CertificateRequest.write(host, key)
      const shown = execFileSync("openssl", ["req", "-inform", "DER", "-verify", "-noout", "-text"], {
        input: der,
        stdio: ["pipe", "pipe", "pipe"]
      }).toString()
      assert.include(shown, `DNS:${host}`)
      assert.include(shown, "ecdsa-with-SHA256")
      const read = Option.getOrThrow(CertificateRequest.read(der))
      assert.deepStrictEqual(read.hosts, [host])
      assert.isTrue(read.key.equals(Option.getOrThrow(CertificateRequest.read(der)).key))
    })

  it("with any bit changed, cut or lengthened is none, and never a fault", () => {
    const der = CertificateRequest.write("app.example.test", key)
    for (let end = 0; end < der.length; end++)
      assert.isTrue(Option.isNone(CertificateRequest.read(der.subarray(0, end))))
    assert.isTrue(Option.isNone(CertificateRequest.read(Buffer.concat([der, Buffer.of(0)]))))
    // The last bytes are the signature's second number; the first are lengths and the version.
    for (let at = 0; at < der.length; at++) {
      const changed = Buffer.from(der)
      changed[at] = (changed[at] ?? 0) ^ 0x01
      const read = CertificateRequest.read(changed)
      if (Option.isSome(read)) assert.deepStrictEqual(read.value.hosts, ["app.example.test"], `byte ${at}`)
    }
  })

  it("a name that fits no common name stands in the names alone, and the certificate verifies", () => {
    const validity = { from: 0, until: 4e12 }
    const leaf = new X509Certificate(Certificate.mintLeaf("Root", key, newKey(), [long], validity))
    assert.strictEqual(leaf.subject ?? "", "")
    assert.isDefined(leaf.checkHost(long, { subject: "never" }))
    assert.isTrue(leaf.verify(new X509Certificate(Certificate.mintRoot("Root", key, validity)).publicKey))
  })
})
