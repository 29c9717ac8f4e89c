/** A topology as a picture: agents on a circle, links between them. The script of the editor may move what stands here. */
import type { AgentKind, TopologyEdge } from "@catenet/domain/topologies/Topology"
import { type Markup, markup } from "@catenet/platform/Markup"
import type { Texts } from "../../texts/English.ts"

export interface Drawn {
  readonly agents: ReadonlyArray<readonly [key: string, kind: AgentKind]>
  readonly edges: ReadonlyArray<Pick<TopologyEdge, "a" | "b">>
  readonly labels: ReadonlyMap<string, string>
  /** Links that are suggested and not there. */
  readonly suggested?: ReadonlyArray<readonly [a: string, b: string]>
}

/** Half of a node, whose name stands inside it, so that no link runs through a name. */
const half = { width: 80, height: 24 }
/** Characters of a name that fit. */
const shownName = 15

/** Up to so many agents stand on one circle; more fill the plane evenly, as the seeds of a sunflower do. */
const maxOnCircle = 16
const seed = { across: 125, down: 55 }
const goldenAngle = Math.PI * (3 - Math.sqrt(5))

const sizeOf = (count: number) => {
  if (count <= 8) return { width: 800, height: 600 }
  if (count <= maxOnCircle) return { width: 1200, height: 900 }
  const radius = Math.sqrt(count)
  return {
    width: Math.ceil(2 * (seed.across * radius + half.width + 20)),
    height: Math.ceil(2 * (seed.down * radius + half.height + 20))
  }
}

/** By its name, or by the beginning of its key. */
export const nameOf = (labels: ReadonlyMap<string, string>, agent: string): string =>
  labels.get(agent) ?? agent.slice(0, 8)

/** Ends of links that are no agents of the topology are drawn too. */
const nodesOf = ({ agents, edges }: Drawn) => {
  const kinds = new Map(agents)
  const ends = new Set([...kinds.keys(), ...edges.flatMap(({ a, b }): ReadonlyArray<string> => [a, b])])
  return [...ends].toSorted().map((agent) => ({ agent, kind: kinds.get(agent) }))
}

const places = (nodes: ReturnType<typeof nodesOf>) => {
  const { height, width } = sizeOf(nodes.length)
  return new Map(
    nodes.map(({ agent }, index) => {
      if (nodes.length > maxOnCircle) {
        const [radius, turn] = [Math.sqrt(index + 0.5), index * goldenAngle]
        const x = width / 2 + seed.across * radius * Math.cos(turn)
        const y = height / 2 + seed.down * radius * Math.sin(turn)
        return [agent, { x: Math.round(x), y: Math.round(y) }] as const
      }
      const angle = (2 * Math.PI * index) / Math.max(nodes.length, 1) - Math.PI / 2
      const x = Math.round(width / 2 + (width / 2 - 110) * Math.cos(angle))
      const y = Math.round(height / 2 + (height / 2 - 60) * Math.sin(angle))
      return [agent, { x, y }] as const
    })
  )
}

const line = (at: ReturnType<typeof places>, a: string, b: string, kind: "link" | "suggested"): Markup | undefined => {
  const [from, to] = [at.get(a), at.get(b)]
  return from === undefined || to === undefined
    ? undefined
    : markup`<line class="${kind}" data-a="${a}" data-b="${b}" x1="${String(from.x)}" y1="${String(from.y)}" x2="${String(to.x)}" y2="${String(to.y)}" />`
}

const present = (parts: ReadonlyArray<Markup | undefined>) => parts.filter((part) => part !== undefined)

/** `isEditable`: every node can have the focus, and the script acts on it. */
export const drawing = (texts: Texts, drawn: Drawn, isEditable: boolean): Markup => {
  const nodes = nodesOf(drawn)
  const at = places(nodes)
  const { height, width } = sizeOf(nodes.length)
  const size = `${String(width)} ${String(height)}`
  const groups = nodes.map(({ agent, kind }) => {
    const name = nameOf(drawn.labels, agent)
    const { x, y } = at.get(agent) ?? { x: 0, y: 0 }
    const role = kind === undefined ? texts.kindOutside : texts.kinds[kind]
    return markup`<g class="node ${kind ?? "outside"}" data-agent="${agent}" transform="translate(${String(x)} ${String(y)})" ${
      isEditable ? markup`tabindex="0" role="button"` : markup`role="img"`
    } aria-label="${name}, ${role}"><rect x="-80" y="-24" width="160" height="48" rx="10" />${
      kind === "super-peer" ? markup`<rect class="hub" x="-70" y="-14" width="28" height="28" rx="7" />` : undefined
    }<circle cx="-56" r="${kind === "super-peer" ? "7" : "9"}" /><text x="-34" y="-2">${
      name.length > shownName ? `${name.slice(0, shownName - 1)}…` : name
    }</text> <text class="under" x="-34" y="14">${role}</text></g>`
  })
  return markup`<svg class="topology" viewBox="0 0 ${size}" data-size="${size}" role="group" aria-label="${texts.drawingLabel(nodes.length, drawn.edges.length)}">${present(drawn.edges.map(({ a, b }) => line(at, a, b, "link")))}${present(
    (drawn.suggested ?? []).map(([a, b]) => line(at, a, b, "suggested"))
  )}${groups}</svg>`
}
