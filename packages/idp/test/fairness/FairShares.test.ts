/** The caps of the embedded identity provider. */
import { holds } from "@catenet/testing/FairShares"

holds({
  of: "idp",
  sources: ["idp/src/**/*.ts"],
  shared: {
    maxRegistered: ["Registrations", "of one network fill all places, and another network still registers"],
    maxAgreed: ["Registrations", "that one account has agreed to leave a place to another account's"],
    registrationsPerMinute: ["Applications", "of one network are bounded, and leave room for those of another"],
    signInsPerMinute: ["Attacks", "of one network are as many as it may begin in a minute, and those of another go on"],
    wrongCodesPerMinute: ["EmailCodes", "that are wrong are as many as a network may try in a minute"],
    wrongPerAccount: ["SignInAttempts", "and its own network and other accounts go on"],
    wrongPerMinute: ["SignInAttempts", "until 30 in a minute were wrong, and those of another address go on"]
  },
  own: { "of one sign-in": ["maxTries"] }
})
