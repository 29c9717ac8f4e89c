/** The mail with a code for a sign-in: text alone, in the language of the page. It holds nothing that a visitor wrote. */
import MailComposer from "nodemailer/lib/mail-composer"

const texts = {
  en: {
    subject: (code: string) => `${code} is your code to sign in`,
    code: (host: string) => `Enter this code to sign in at ${host}:`,
    note: "It works for 10 minutes, on the page where you asked for it. If you did not ask for it, ignore this mail, and give the code to nobody."
  },
  de: {
    subject: (code: string) => `${code} ist Ihr Code zum Anmelden`,
    code: (host: string) => `Geben Sie diesen Code ein, um sich bei ${host} anzumelden:`,
    note: "Er gilt 10 Minuten, auf der Seite, auf der Sie ihn angefordert haben. Haben Sie ihn nicht angefordert, beachten Sie diese E-Mail nicht, und geben Sie den Code niemandem."
  }
} as const

export const compose = async (mail: {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly language: "en" | "de"
  readonly code: string
  /** Where the code is entered. */
  readonly host: string
}): Promise<Buffer> => {
  const { code, from, host, id, language, to } = mail
  const { code: enter, note, subject } = texts[language]
  const shown = `${code.slice(0, 4)} ${code.slice(4)}`
  return await new MailComposer({
    from: { name: "Catenet", address: from },
    to: { name: "", address: to },
    subject: subject(shown),
    messageId: `<${id}@${from.slice(from.lastIndexOf("@") + 1)}>`,
    headers: { "Auto-Submitted": "auto-generated", "Content-Language": language },
    text: [enter(host), "", `    ${shown}`, "", note, ""].join("\n"),
    disableFileAccess: true,
    disableUrlAccess: true
  })
    .compile()
    .build()
}
