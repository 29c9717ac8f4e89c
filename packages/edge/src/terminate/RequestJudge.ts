/** What becomes of a visitor's request at a host whose TLS ends here: what the login gate says, and then the rules of the tunnel. */
import type { VisitorGate } from "@catenet/proxy/internal/gate/VisitorGate"
import type { AskGate } from "@catenet/proxy/internal/GateVerdict"
import type { Http2Options } from "@catenet/proxy/internal/http2/Http2Connections"
import { factsOfHead, factsOfHeaders, RuleGate } from "@catenet/proxy/internal/rules/RuleGate"
import type { Counters } from "../observe/Counters.ts"
import type { Routes } from "../routes/Routes.ts"

type RefusedBy = Counters["Service"]["refusedBy"]

const isCounted = (refusedBy: RefusedBy, rule: string): rule is keyof RefusedBy => Object.hasOwn(refusedBy, rule)

export interface Surroundings {
  readonly gate: VisitorGate
  readonly routes: Routes["Service"]
  readonly counters: Counters["Service"]
  /** In milliseconds. */
  readonly now: () => number
}

export const make = ({ counters: { refusedBy }, gate, now, routes }: Surroundings) => {
  const rules = new RuleGate({
    now,
    onRefused: (_, rule) => {
      if (isCounted(refusedBy, rule)) refusedBy[rule] += 1
    }
  })
  const judge = (host: string, ...asked: [Parameters<RuleGate["judge"]>[2], Parameters<RuleGate["judge"]>[3]]) => {
    const token = routes.find(host)?.token ?? ""
    return rules.judge(token, routes.rules(token), ...asked)
  }
  return {
    /** As {@link VisitorGate.connection}. */
    connection: (...[socket, host, address, end]: Parameters<VisitorGate["connection"]>): AskGate => {
      const ask = gate.connection(socket, host, address, end)
      return (request) =>
        judge(
          host,
          () => factsOfHead(request, address),
          () => ask(request)
        )
    },
    /** As {@link VisitorGate.request}. */
    request: (host: string, address: string): Http2Options["ask"] => {
      return (stream, headers) => {
        const asked = gate.request(stream, headers, host, address)
        return judge(
          host,
          () => factsOfHeaders(headers, address),
          () => asked
        )
      }
    }
  }
}
