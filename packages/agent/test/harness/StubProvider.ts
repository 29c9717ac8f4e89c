/** An identity provider whose answers a test writes, for those that no real one gives. */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

export interface Asked {
  readonly url: string
  readonly form: URLSearchParams
}

export interface Said {
  readonly status: number
  readonly body: unknown
}

const bodyOf = (body: unknown) => (typeof body === "string" ? body : JSON.stringify(body))

/** `answer` gives an answer, undefined for a connection that breaks. */
export const layer = (answer: (asked: Asked) => Said | undefined) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.suspend(() => {
        const form = new URLSearchParams(
          request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
        )
        const said = answer({ url: request.url, form })
        return said === undefined
          ? Effect.never
          : Effect.succeed(
              HttpClientResponse.fromWeb(request, new Response(bodyOf(said.body), { status: said.status }))
            )
      })
    )
  )
