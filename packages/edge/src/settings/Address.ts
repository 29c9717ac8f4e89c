/** `host:port` addresses of listeners and upstreams. Refuses everything that is not a host and a port of 0..65535. */

export interface Address {
  readonly host: string
  readonly port: number
}

/** Parses `127.0.0.1:8443`, `[::1]:8443` or `name:8443`. Port 0 lets the system choose. */
export const parse = (value: string): Address | undefined => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(value)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  return host === undefined || port > 65_535 ? undefined : { host, port }
}

export const format = ({ host, port }: Address): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
