/** The part of the control plane's API that an edge calls. A client that is made of this holds no schema of the rest. */
import { HttpApi } from "effect/http-api"
import { EdgesApi } from "./EdgesApi.ts"

export class EdgeCallsApi extends HttpApi.make("catenet").add(EdgesApi) {}
