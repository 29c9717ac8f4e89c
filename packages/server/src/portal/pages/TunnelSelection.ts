/**
 * Which tunnels of an account a page of the list shows. What fits on a page is filtered by state, sorted and counted; of
 * more the list goes on from the last one, oldest first, and names are searched.
 */
import * as Base64 from "@catenet/crypto/Base64"
import * as Bytes from "@catenet/crypto/Bytes"
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { kindOf } from "../shell/AgentState.ts"

/** Entries of one page of the list. */
export const perPage = 50

export type Filter = "all" | "up" | "down" | "other"

export interface Query {
  readonly q: string
  readonly state: Filter
  readonly sort: "state" | "name"
  readonly cursor: string | undefined
}

/** Longer than a host name is nothing that could be found. */
const longestSearch = 253

export const readQuery = (url: string): Query => {
  const query = new URL(url, "http://localhost").searchParams
  const state = query.get("state")
  return {
    q: (query.get("q") ?? "").replaceAll("\0", "").trim().slice(0, longestSearch),
    state: state === "up" || state === "down" || state === "other" ? state : "all",
    sort: query.get("sort") === "name" ? "name" : "state",
    cursor: query.get("cursor") ?? undefined
  }
}

/** The list with another filter or order; the rest stays. */
export const urlOf = (query: Query, change: Partial<Query>): string => {
  const { cursor, q, sort, state } = { ...query, cursor: undefined, ...change }
  const parts = new URLSearchParams({
    ...(q === "" ? {} : { q }),
    ...(state === "all" ? {} : { state }),
    ...(sort === "state" ? {} : { sort }),
    ...(cursor === undefined ? {} : { cursor })
  }).toString()
  return parts === "" ? "/portal/tunnels" : `/portal/tunnels?${parts}`
}

export interface Selection {
  readonly tunnels: ReadonlyArray<Tunnel>
  /** Whether the account has a tunnel, whatever the filter. */
  readonly hasAny: boolean
  readonly isFirst: boolean
  readonly next: string | undefined
  /** How many there are with the filter; undefined where they are too many to be counted. */
  readonly total: number | undefined
  readonly counts: Readonly<Record<Filter, number>> | undefined
}

const filterOf = (reach: Reachability | undefined): Filter => {
  const kind = kindOf(reach)
  return kind === "up" || kind === "down" ? kind : "other"
}

/** What is broken stands first. */
const ranks: Readonly<Record<Filter, number>> = { down: 0, other: 1, up: 2, all: 3 }

const nameOf = ({ hostname, name }: Tunnel) => hostname ?? name

/** Of all tunnels that have what is searched for. */
export const ofAll = (
  found: ReadonlyArray<Tunnel>,
  reach: ReadonlyMap<string, Reachability>,
  query: Query
): Selection => {
  const stateOf = ({ id }: Tunnel) => filterOf(reach.get(id))
  const counts = { all: found.length, up: 0, down: 0, other: 0 }
  for (const tunnel of found) counts[stateOf(tunnel)]++
  const wanted = query.state === "all" ? found : found.filter((tunnel) => stateOf(tunnel) === query.state)
  const sorted = wanted.toSorted(
    (a, b) => (query.sort === "name" ? 0 : ranks[stateOf(a)] - ranks[stateOf(b)]) || nameOf(a).localeCompare(nameOf(b))
  )
  return {
    tunnels: sorted,
    hasAny: found.length > 0 || query.q !== "",
    isFirst: true,
    next: undefined,
    total: sorted.length,
    counts
  }
}

/** Of a list that goes on: its cursor is the one of the API. */
export const ofPart = (found: ReadonlyArray<Tunnel>, query: Query): Selection => {
  const last = found.at(-1)
  const cursor =
    last === undefined || found.length < perPage
      ? undefined
      : Base64.encodeUrl(Bytes.fromText(JSON.stringify({ createdAt: last.created_at, id: last.id })))
  return {
    tunnels: found,
    hasAny: true,
    isFirst: query.cursor === undefined,
    next: cursor === undefined ? undefined : urlOf(query, { state: "all", sort: "state", cursor }),
    total: undefined,
    counts: undefined
  }
}
