/** A token issuer whose keys, claims and absences a test decides: it publishes its keys over HTTP as a realm does. */
import { Context, Effect, Layer } from "effect"
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const newKey = async (kid: string) => {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true })
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: "sig", alg: "RS256" } }
}

export interface Claims extends JWTPayload {
  readonly sub: string
}

export class TestIssuer extends Context.Service<
  TestIssuer,
  {
    readonly issuer: string
    readonly fetches: () => number
    /** An access token; claims given here replace the usual ones, `undefined` leaves one out. */
    readonly token: (claims: { readonly [name: string]: unknown }, kid?: string) => Effect.Effect<string>
    /** Publishes another key instead of, or beside, the ones so far. */
    readonly rotate: (kid: string, options?: { readonly keep: boolean }) => Effect.Effect<void>
    /** How the provider answers at userinfo: the claims, a status, or nothing. */
    readonly userinfo: (
      answer: ((token: string) => Readonly<Record<string, unknown>> | number) | undefined
    ) => Effect.Effect<void>
    /** Answers nothing from now on, or again. */
    readonly away: (away: boolean) => Effect.Effect<void>
  }
>()("test/TestIssuer") {
  static readonly layerStarting = (initially: { readonly away: boolean }) =>
    Layer.effect(
      TestIssuer,
      Effect.gen(function* () {
        const keys = new Map([["first", yield* Effect.promise(() => newKey("first"))]])
        let published = ["first"]
        let isAway = initially.away
        let fetches = 0
        let userinfo: ((token: string) => Readonly<Record<string, unknown>> | number) | undefined
        const server = createServer((request, response) => {
          fetches++
          if (userinfo !== undefined && request.url === "/realms/test/protocol/openid-connect/userinfo") {
            const answer = userinfo(request.headers.authorization ?? "")
            if (typeof answer === "number") return void response.writeHead(answer).end()
            return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
          }
          if (isAway || request.url !== "/realms/test/protocol/openid-connect/certs") return void response.destroy()
          response.setHeader("content-type", "application/json")
          response.end(JSON.stringify({ keys: published.map((kid) => keys.get(kid)?.jwk) }))
        })
        yield* Effect.acquireRelease(
          Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
          () => Effect.sync(() => (server.closeAllConnections(), server.close()))
        )
        const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/test`
        return {
          issuer,
          fetches: () => fetches,
          token: (claims, kid = published.at(-1)!) =>
            Effect.promise(() => {
              const now = Math.floor(Date.now() / 1000)
              const usual = { iss: issuer, aud: "catenet", typ: "Bearer", iat: now, exp: now + 300 }
              const payload = JSON.parse(JSON.stringify({ ...usual, ...claims })) as JWTPayload
              return new SignJWT(payload)
                .setProtectedHeader({ alg: "RS256", kid, typ: "JWT" })
                .sign(keys.get(kid)!.privateKey)
            }),
          rotate: (kid, options = { keep: false }) =>
            Effect.promise(async () => {
              keys.set(kid, await newKey(kid))
              published = options.keep ? [...published, kid] : [kid]
            }),
          userinfo: (answer) => Effect.sync(() => void (userinfo = answer)),
          away: (away) => Effect.sync(() => void (isAway = away))
        }
      })
    )
  static readonly layer = TestIssuer.layerStarting({ away: false })
}
