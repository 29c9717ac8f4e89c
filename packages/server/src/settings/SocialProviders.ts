/** The providers behind the identity provider that people may choose before they get there. */
import * as Parser from "@catenet/platform/Parser"

export const socialProviders = ["google", "github", "gitlab"] as const
export type SocialProvider = (typeof socialProviders)[number]

export const parser = Parser.listOf(
  Parser.literal(...socialProviders),
  "google, github or gitlab, between commas",
  "google,github"
)
