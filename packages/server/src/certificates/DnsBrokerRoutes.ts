/** The routes of the DNS-01 broker are there where a DNS back end is. Asked before the request is read. */
import { BrokersDns } from "@catenet/domain/api/Access"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Layer } from "effect"
import * as DnsBackend from "../dns/DnsBackend.ts"
import { DnsProvider } from "../dns/DnsProvider.ts"

export const layer = Layer.effect(
  BrokersDns,
  Effect.map(DnsProvider, ({ zone }) =>
    BrokersDns.of((httpEffect) => (zone === undefined ? Effect.fail(new RouteNotFound()) : httpEffect))
  )
).pipe(Layer.provide([DnsBackend.layer]))
