/**
 * The addresses of the login gate, which are no part of the JSON API: they speak in headers, cookies, redirects and small
 * pages to visitors and to the proxy in front of them.
 */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import type { ExtraRoutes } from "../http/AllowedMethods.ts"
import * as AccessRequest from "./AccessRequestRoutes.ts"
import { check } from "./GateCheckRoute.ts"
import * as SignIn from "./GateSignInRoutes.ts"
import * as Share from "./ShareRoute.ts"

export const addresses: ExtraRoutes = [
  ["GET", "/gate/check"],
  ["GET", Share.path],
  ["POST", Share.path],
  ["GET", "/gate/start"],
  ["GET", "/gate/callback"],
  ["GET", "/gate/logout"],
  ["GET", AccessRequest.path],
  ["POST", AccessRequest.path]
]

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", "/gate/check", yield* check)
    yield* router.add("GET", Share.path, yield* Share.share)
    yield* router.add("POST", Share.path, yield* Share.spend)
    yield* router.add("GET", "/gate/start", yield* SignIn.start)
    yield* router.add("GET", "/gate/callback", yield* SignIn.callback)
    yield* router.add("GET", "/gate/logout", yield* SignIn.logout)
    yield* router.add("GET", AccessRequest.path, yield* AccessRequest.show)
    yield* router.add("POST", AccessRequest.path, yield* AccessRequest.ask)
  })
)
