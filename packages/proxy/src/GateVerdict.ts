/** What the login gate and the rules of a tunnel say about a request. */
import type { Edits } from "@catenet/domain/rules/Evaluation"
import type { GateIdentity, RequestHead } from "./http1/RequestHead.ts"
import type { ProxyResponse } from "./ProxyPages.ts"

/** The request is forwarded to the origin with this identity and these edits, or answered here. */
export type GateVerdict =
  | {
      readonly _tag: "Passes"
      readonly identity: GateIdentity | undefined
      /** What rules change of it and of its answer. */
      readonly edits?: Edits | undefined
    }
  | { readonly _tag: "Responds"; readonly answer: ProxyResponse }

/** Nothing where the host has no gate now. Never fails. */
export type AskGate = (request: RequestHead) => Promise<GateVerdict> | undefined
