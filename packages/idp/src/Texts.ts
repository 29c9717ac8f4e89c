/** What the provider's pages say, in the languages of the portal. */
import { preferred } from "@catenet/platform/AcceptLanguage"

const english = {
  language: "en",
  signIn: "Sign in",
  email: "E-mail",
  password: "Password",
  refused: "This e-mail address and password do not belong together.",
  tooMany: "Too many wrong passwords came from your network. Wait a minute, then try again.",
  byMail: "E-mail me a code",
  byPassword: "Use a password",
  code: "Code from the e-mail",
  codeSent: (email: string) =>
    `If ${email} may sign in here, a code is on its way. It works for 10 minutes, on this page only.`,
  codeAgain: "Send another code",
  codeWrong: "This is not the code. After five wrong codes you need another one.",
  codeEnded: "This code no longer works. Ask for another one.",
  tooManyMails: "Too many codes were asked for from your network. Try again later.",
  tooManyCodes: "Too many wrong codes came from your network. Wait a minute, then try again.",
  passkey: "Use a passkey",
  passkeyFailed: "The passkey did not work. Try again, or sign in another way.",
  account: "Your sign-in",
  passkeys: "Passkeys",
  passkeysNone: "None yet. A passkey signs you in by the lock of your device, without a code or a password.",
  passkeyAdd: "Add a passkey",
  passkeyOf: (day: string) => `Added on ${day}`,
  passkeyUsed: (day: string) => `used last on ${day}`,
  remove: "Remove",
  signInAgain: "Sign in again to change passkeys",
  sessions: "Signed in",
  sessionOf: (day: string) => `Since ${day}`,
  sessionThis: "this browser",
  everywhere: "Sign out everywhere",
  everywhereText:
    "Ends the sign-in of every browser, device and application at this provider, and the portal's sessions.",
  upstream: (name: string) => `Continue with ${name}`,
  upstreamFailed: "The sign-in there did not work. Try again, or sign in another way.",
  upstreamUnknown:
    "Nobody here has this account. It needs an e-mail address that is proved there and may sign in here.",
  tooManySignIns: "Too many sign-ins were begun from your network. Wait a minute, then try again.",
  failed: "This did not work",
  notOpen: "The sign-in is no longer open. Start again from the application.",
  device: "Connect a device",
  deviceCode: "Enter the code that your device shows.",
  deviceCodeUnknown: "That code is not known. Try again.",
  deviceAsks: (client: string, code: string) => `Let ${client} use your account? It shows the code ${code}.`,
  next: "Continue",
  goOn: "One more step",
  goOnText: "Press the button to go on.",
  deviceConnect: "Connect",
  deviceConnected: "Device connected",
  deviceDone: "You can close this page and go back to your device.",
  consent: "Connect an application",
  consentAsks: (name: string, host: string, account: string) =>
    `“${name}” wants to use ${host} in your name (${account}).`,
  consentSite: (site: string) => `It is described at ${site}.`,
  consentUnproved: "It chose this name itself.",
  consentReturns: (host: string) => `The answer goes to ${host}.`,
  consentLocal: "The answer goes to a program on this computer.",
  consentYes: "Allow",
  consentNo: "Do not allow",
  signOut: "Sign out",
  signOutAsk: "Do you want to sign out?",
  signedOut: "Signed out",
  signedOutText: "You are signed out."
}

export type Texts = Omit<typeof english, "language"> & { readonly language: string }

const german: Texts = {
  language: "de",
  signIn: "Anmelden",
  email: "E-Mail",
  password: "Passwort",
  refused: "Diese E-Mail-Adresse und dieses Passwort gehören nicht zusammen.",
  tooMany:
    "Aus Ihrem Netz kamen zu viele falsche Passwörter. Warten Sie eine Minute und versuchen Sie es dann noch einmal.",
  byMail: "Code per E-Mail schicken",
  byPassword: "Ein Passwort benutzen",
  code: "Code aus der E-Mail",
  codeSent: (email) =>
    `Wenn ${email} sich hier anmelden darf, ist ein Code unterwegs. Er gilt 10 Minuten, nur auf dieser Seite.`,
  codeAgain: "Noch einen Code schicken",
  codeWrong: "Das ist nicht der Code. Nach fünf falschen Codes brauchen Sie einen neuen.",
  codeEnded: "Dieser Code gilt nicht mehr. Fordern Sie einen neuen an.",
  tooManyMails: "Aus Ihrem Netz wurden zu viele Codes angefordert. Versuchen Sie es später noch einmal.",
  tooManyCodes:
    "Aus Ihrem Netz kamen zu viele falsche Codes. Warten Sie eine Minute und versuchen Sie es dann noch einmal.",
  passkey: "Passkey benutzen",
  passkeyFailed: "Der Passkey ging nicht. Versuchen Sie es noch einmal, oder melden Sie sich anders an.",
  account: "Ihre Anmeldung",
  passkeys: "Passkeys",
  passkeysNone: "Noch keiner. Ein Passkey meldet Sie mit der Sperre Ihres Geräts an, ohne Code und ohne Passwort.",
  passkeyAdd: "Passkey hinzufügen",
  passkeyOf: (day) => `Hinzugefügt am ${day}`,
  passkeyUsed: (day) => `zuletzt benutzt am ${day}`,
  remove: "Entfernen",
  signInAgain: "Zum Ändern der Passkeys noch einmal anmelden",
  sessions: "Angemeldet",
  sessionOf: (day) => `Seit ${day}`,
  sessionThis: "dieser Browser",
  everywhere: "Überall abmelden",
  everywhereText:
    "Beendet die Anmeldung jedes Browsers, jedes Geräts und jeder Anwendung hier, und die Sitzungen des Portals.",
  upstream: (name) => `Weiter mit ${name}`,
  upstreamFailed: "Die Anmeldung dort ging nicht. Versuchen Sie es noch einmal, oder melden Sie sich anders an.",
  upstreamUnknown:
    "Niemand hier hat dieses Konto. Es braucht eine E-Mail-Adresse, die dort nachgewiesen ist und sich hier anmelden darf.",
  tooManySignIns:
    "Aus Ihrem Netz wurden zu viele Anmeldungen begonnen. Warten Sie eine Minute und versuchen Sie es dann noch einmal.",
  failed: "Das hat nicht geklappt",
  notOpen: "Die Anmeldung ist nicht mehr offen. Beginnen Sie in der Anwendung von vorn.",
  device: "Ein Gerät verbinden",
  deviceCode: "Geben Sie den Code ein, den Ihr Gerät zeigt.",
  deviceCodeUnknown: "Diesen Code gibt es nicht. Versuchen Sie es noch einmal.",
  deviceAsks: (client, code) => `Darf ${client} Ihr Konto benutzen? Dort steht der Code ${code}.`,
  next: "Weiter",
  goOn: "Noch ein Schritt",
  goOnText: "Mit dem Knopf geht es weiter.",
  deviceConnect: "Verbinden",
  deviceConnected: "Gerät verbunden",
  deviceDone: "Sie können diese Seite schließen und zu Ihrem Gerät zurückgehen.",
  consent: "Eine Anwendung verbinden",
  consentAsks: (name, host, account) => `„${name}“ möchte ${host} in Ihrem Namen (${account}) benutzen.`,
  consentSite: (site) => `Beschrieben ist sie auf ${site}.`,
  consentUnproved: "Diesen Namen hat sie sich selbst gegeben.",
  consentReturns: (host) => `Die Antwort geht an ${host}.`,
  consentLocal: "Die Antwort geht an ein Programm auf diesem Computer.",
  consentYes: "Erlauben",
  consentNo: "Nicht erlauben",
  signOut: "Abmelden",
  signOutAsk: "Möchten Sie sich abmelden?",
  signedOut: "Abgemeldet",
  signedOutText: "Sie sind abgemeldet."
}

/**
 * In the language that the application asks for (`ui_locales`, OpenID Connect Core section 3.1.2.1: tags in the order of
 * preference), else the browser's, else English.
 */
export const textsFor = (asked: unknown, accepted: string | undefined): Texts => {
  const wanted = typeof asked === "string" ? preferred(asked.trim().replaceAll(/\s+/gu, ","), ["en", "de"]) : undefined
  return (wanted ?? preferred(accepted, ["en", "de"])) === "de" ? german : english
}
