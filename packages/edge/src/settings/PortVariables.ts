/** Variables of the ports that the edge offers to tunnels. */
import { maxPortRanges, PortRange } from "@catenet/domain/edges/PublicPort"
import * as Parser from "@catenet/platform/Parser"
import { optional } from "@catenet/platform/Variable"
import { Option, Schema } from "effect"

const readRange = Schema.decodeUnknownOption(PortRange)

const range = Parser.make("a range of ports", (text) => {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/u.exec(text) ?? []
  return Number(first) > Number(last) ? undefined : Option.getOrUndefined(readRange([Number(first), Number(last)]))
})

const expected = `at most ${maxPortRanges} ports and ranges of ports from 1 to 65535, separated by commas`
const all = Parser.listOf(range, expected, "20000-20999")
const ranges = Parser.quoted({
  ...all,
  parse: (text: string) => {
    const parsed = all.parse(text)
    return parsed !== undefined && parsed.length <= maxPortRanges ? parsed : undefined
  }
})

export const portVariables = {
  ports: optional(
    "CT_EDGE_PORTS",
    ranges,
    "TCP ports that the control plane may give to tunnels; the edge listens at them while an agent of the tunnel is connected.",
    { needs: "CT_EDGE_CP_URL" }
  ),
  udpPorts: optional(
    "CT_EDGE_UDP_PORTS",
    ranges,
    "UDP ports that the control plane may give to tunnels, in the same way.",
    { needs: "CT_EDGE_CP_URL" }
  )
}
