/** What the login gate says about a request. */
import type { GateIdentity, RequestHead } from "./http1/RequestHead.ts"
import type { ProxyResponse } from "./ProxyPages.ts"

/** The request is forwarded to the origin with this identity, or answered here. */
export type GateVerdict =
  | {
      readonly _tag: "Passes"
      readonly identity: GateIdentity | undefined
    }
  | { readonly _tag: "Responds"; readonly answer: ProxyResponse }

/** Nothing where the host has no gate now. Never fails. */
export type AskGate = (request: RequestHead) => Promise<GateVerdict> | undefined
