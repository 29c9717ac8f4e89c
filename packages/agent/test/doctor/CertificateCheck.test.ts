import { makeAuthority } from "@catenet/testing/agent/Authority"
import { Result } from "effect"
import { X509Certificate } from "node:crypto"
import { assert, describe, it } from "vitest"
import * as CertificateStatusCheck from "../../src/doctor/CertificateStatusCheck.ts"

const certificate = new X509Certificate(makeAuthority().leaf("shop.example").cert)
const day = 86_400_000
const judge = (host: string, now: number) => Result.merge(CertificateStatusCheck.judge(certificate, host, now))

describe("a certificate", () => {
  it("is good for its names, while it is valid", () => {
    const from = certificate.validFromDate.getTime()
    const until = certificate.validToDate.getTime()
    assert.match(judge("shop.example", until - 14 * day), /^is not valid before .*; check the clocks$/)
    assert.match(judge("shop.example", from - 1), /^is not valid before /)
    assert.match(judge("shop.example", from), /^is valid until .*, 2 days from now; renew it soon$/)
    assert.match(judge("shop.example", until), /^is valid until .*, 0 days from now; renew it soon$/)
    assert.match(judge("shop.example", until + 1), /^ended at .*; renew it$/)
    assert.strictEqual(judge("other.example", from), "is for shop.example, not for other.example; browsers refuse it")
  })
})
