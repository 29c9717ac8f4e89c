/** What the login gate says about a request. */
import type { EdgeResponse } from "./EdgePages.ts"
import type { GateIdentity, RequestHead } from "./http1/RequestHead.ts"

/** The request is forwarded to the origin with this identity, or answered here. */
export type GateVerdict =
  | {
      readonly _tag: "Passes"
      readonly identity: GateIdentity | undefined
    }
  | { readonly _tag: "Responds"; readonly answer: EdgeResponse }

/** Nothing where the host has no gate now. Never fails. */
export type AskGate = (request: RequestHead) => Promise<GateVerdict> | undefined
