/** What a refusal has to say where people browse. */
import type { HttpServerRespondable } from "effect/http"

export interface BrowserRefusal extends HttpServerRespondable.Respondable {
  readonly status: number
  readonly title: string
  readonly detail: string
  /** Seconds after which it may be different. */
  readonly retry_after?: number
}
