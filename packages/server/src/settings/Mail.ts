/** Variables of mail about notices: the operator's mail server, and how often an account is looked at. */
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import { defaulted, optional } from "@catenet/platform/Variable"

export const variables = {
  smtpUrl: optional(
    "CT_CP_SMTP_URL",
    SecretParser.mailServerUrl,
    "Mail server for notices: smtps:// is TLS from the start, smtp:// by STARTTLS, which only this machine's own server may lack. Without it no mail is sent."
  ),
  smtpRoots: optional(
    "CT_CP_SMTP_ROOTS",
    SecretParser.certificates,
    "Roots that the mail server's certificate must lead to; without them those of Node."
  ),
  mailFrom: optional(
    "CT_CP_MAIL_FROM",
    NetworkParser.mailbox,
    "Sender of mail; by default no-reply at the host of the portal."
  ),
  mailIntervalSeconds: defaulted(
    "CT_CP_MAIL_TICK_SECS",
    Parser.whole(1, 86_400),
    "300",
    "How often an account is looked at for notices to mail: it gets at most one mail in this time."
  )
} as const
