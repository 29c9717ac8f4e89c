/**
 * The operator's mail server. A connection is encrypted before it carries account data, by TLS from the start or by
 * STARTTLS, unless the server is this machine; the certificate must be valid.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { isIP } from "@catenet/platform/IpAddress"
import { Context, Data, Effect, Layer, Option, Redacted, type Scope } from "effect"
import SmtpConnection from "nodemailer/lib/smtp-connection"
import { Settings } from "../../settings/Settings.ts"

/** The server took nothing: it was not reached, refused the login, or refused the mail. */
export class MailRefused extends Data.TaggedError("MailRefused")<{
  readonly why: string
  /** Whether another attempt may fare better. */
  readonly isForNow: boolean
}> {
  override get message() {
    return `The mail server of CT_CP_SMTP_URL did not take a mail: ${clause(this.why)}.`
  }
}

/** The connection broke after the mail was sent and before it was answered: the server may have taken it. */
export class MailUnanswered extends Data.TaggedError("MailUnanswered") {
  override get message() {
    return "The mail server of CT_CP_SMTP_URL did not answer whether it took a mail."
  }
}

export interface Envelope {
  readonly from: string
  readonly to: string
}

interface Session {
  /** Hands one mail over. */
  readonly send: (envelope: Envelope, message: Buffer) => Effect.Effect<void, MailRefused | MailUnanswered>
}

const patience = 20_000

/** What a server answers may repeat a name and a password: of an answer only its code is kept. */
const whyOf = (cause: unknown) => {
  const { code, command, responseCode }: Readonly<Record<string, unknown>> = {
    ...(cause instanceof Error ? cause : {})
  }
  const isAnswer = typeof responseCode === "number"
  const last = isAnswer
    ? responseCode
    : cause instanceof Error
      ? cause.message.replaceAll(/[\p{C}\s]+/gu, " ").slice(0, 200)
      : undefined
  const parts = [code, command, last].filter((each) => typeof each === "string" || typeof each === "number")
  return { code: isAnswer ? responseCode : undefined, why: parts.join(" ") || "no reason given" }
}

const mailRefused = (cause: unknown, isForNow = true) => new MailRefused({ why: whyOf(cause).why, isForNow })

const isThisMachine = (host: string) =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))

export class SmtpServer extends Context.Service<
  SmtpServer,
  {
    /** The sender of all mail; none where no server is configured. */
    readonly sender: Option.Option<string>
    /** A connection that is signed in, for the life of the scope. */
    readonly open: Effect.Effect<Session, MailRefused, Scope.Scope>
  }
>()("server/notices/mail/SmtpServer") {
  static readonly make = Effect.gen(function* () {
    const { mailFrom, portalBaseUrl, smtpRoots, smtpUrl } = yield* Settings
    const none = new MailRefused({ why: "CT_CP_SMTP_URL is not set", isForNow: true })
    if (smtpUrl === undefined) return { sender: Option.none<string>(), open: Effect.fail(none) }
    const { hostname, password, port, protocol, username } = new URL(Redacted.value(smtpUrl))
    const host = hostname.replace(/^\[(.*)\]$/u, "$1")
    const isSecure = protocol === "smtps:"
    const login =
      username === ""
        ? undefined
        : { user: decodeURIComponent(username), pass: Redacted.make(decodeURIComponent(password)) }

    const connected = Effect.callback<SmtpConnection, MailRefused>((resume) => {
      const connection = new SmtpConnection({
        host,
        port: port === "" ? (isSecure ? 465 : 587) : Number(port),
        secure: isSecure,
        requireTLS: !isSecure && !isThisMachine(host),
        connectionTimeout: patience,
        greetingTimeout: patience,
        socketTimeout: patience,
        dnsTimeout: patience,
        tls: {
          minVersion: "TLSv1.2",
          ...(smtpRoots === undefined ? {} : { ca: Redacted.value(smtpRoots) }),
          ...(isIP(host) === 0 ? { servername: host } : {})
        }
      })
      // A listener that stays: an error that comes late must not end the process.
      connection.on("error", (cause: unknown) => resume(Effect.fail(mailRefused(cause))))
      connection.on("end", () => resume(Effect.fail(new MailRefused({ why: "it hung up", isForNow: true }))))
      connection.connect((cause) => resume(cause ? Effect.fail(mailRefused(cause)) : Effect.succeed(connection)))
      return Effect.sync(() => connection.close())
    })

    const signedIn = (connection: SmtpConnection) =>
      login === undefined
        ? Effect.void
        : Effect.callback<void, MailRefused>((resume) => {
            const broken = (cause?: unknown) => resume(Effect.fail(mailRefused(cause)))
            connection.once("error", broken).once("end", broken)
            const credentials = { user: login.user, pass: Redacted.value(login.pass) }
            connection.login({ ...credentials, credentials }, (cause) =>
              resume(cause ? Effect.fail(mailRefused(cause)) : Effect.void)
            )
          })

    const sent = (connection: SmtpConnection, { from, to }: Envelope, message: Buffer) =>
      Effect.callback<void, MailRefused | MailUnanswered>((resume) => {
        const broken = () => resume(Effect.fail(new MailUnanswered()))
        connection.once("error", broken).once("end", broken)
        connection.send({ from, to: [to] }, message, (cause) => {
          if (!cause) return resume(Effect.void)
          const { code } = whyOf(cause)
          resume(Effect.fail(code === undefined ? new MailUnanswered() : mailRefused(cause, code >= 400 && code < 500)))
        })
      })

    return {
      sender: Option.some(mailFrom ?? `no-reply@${portalBaseUrl.hostname}`),
      open: Effect.gen(function* () {
        // A stop of the service waits for no server that is silent.
        const connection = yield* Effect.acquireRelease(connected, (open) => Effect.sync(() => open.close()), {
          interruptible: true
        })
        yield* signedIn(connection)
        return { send: (envelope: Envelope, message: Buffer) => sent(connection, envelope, message) }
      })
    }
  })

  static readonly layer = Layer.effect(SmtpServer, SmtpServer.make)
}
