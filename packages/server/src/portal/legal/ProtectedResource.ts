/** The metadata by which a client that was refused finds the authorization server (RFC 9728). */

export interface Facts {
  readonly origin: string
  readonly issuer: string
}

export const render = ({ issuer, origin }: Facts): string =>
  JSON.stringify({
    resource: origin,
    authorization_servers: [issuer],
    bearer_methods_supported: ["header"],
    resource_name: "Catenet",
    resource_documentation: `${origin}/docs`,
    resource_policy_uri: `${origin}/datenschutz`,
    resource_tos_uri: `${origin}/nutzungsbedingungen`
  })
