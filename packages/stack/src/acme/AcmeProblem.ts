/** Refusals of the development ACME server, as RFC 8555 section 6.7 names them. */

/** What an HTTP answer is made of. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const statuses: ReadonlyMap<string, number> = new Map([
  ["accountDoesNotExist", 400],
  ["externalAccountRequired", 403],
  ["unauthorized", 403],
  ["orderNotReady", 403],
  ["rejectedIdentifier", 400],
  ["rateLimited", 429],
  ["serverInternal", 500]
])

export class AcmeProblem extends Error {
  override readonly name = "AcmeProblem"
  readonly kind: string
  /** Seconds after which the client may come again. */
  readonly retryAfter: number | undefined
  constructor(kind: string, detail: string, retryAfter?: number) {
    super(detail)
    this.kind = kind
    this.retryAfter = retryAfter
  }
  /** The problem document's fields. */
  get document() {
    return { type: `urn:ietf:params:acme:error:${this.kind}`, detail: this.message }
  }
  get reply(): Reply {
    return {
      status: statuses.get(this.kind) ?? 400,
      headers: {
        "content-type": "application/problem+json",
        ...(this.retryAfter === undefined ? {} : { "retry-after": String(this.retryAfter) })
      },
      body: JSON.stringify(this.document)
    }
  }
}
