/** Variables of mail about notices: the operator's mail server, and how often an account is looked at. */
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import { defaulted, optional } from "@catenet/platform/Variable"

export const variables = {
  smtpUrl: optional(
    "CT_CP_SMTP_URL",
    SecretParser.mailServerUrl,
    "Mail server for notices: smtps:// uses TLS, smtp:// uses STARTTLS, which is optional only on this machine. If unset, no mail is sent."
  ),
  smtpRoots: optional(
    "CT_CP_SMTP_ROOTS",
    SecretParser.certificates,
    "Root certificates for the mail server; the default is Node's."
  ),
  mailFrom: optional(
    "CT_CP_MAIL_FROM",
    NetworkParser.mailbox,
    "Sender of mail; the default is no-reply at the portal's host."
  ),
  mailIntervalSeconds: defaulted(
    "CT_CP_MAIL_TICK_SECS",
    Parser.whole(1, 86_400),
    "300",
    "Seconds between checks of an account for notices to mail; it gets at most one mail in this time."
  )
} as const
