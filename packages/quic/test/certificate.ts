/** A self-signed certificate for `localhost` that exists for these tests only; its key is no secret. It is no authority: the runtime takes none as a leaf. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBkzCCATigAwIBAgIUBuuqs///sxXGKUbO7GYgr23COBEwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzEwMjczOVoYDzIxMjYxMDMw
MTAyNzM5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARBsOVuRFU+lgkbFm5IxHC5EOPqNU77h7hrkleyEP8/gBtTgRlQg8ZL
AG4w5L9N5OKczPLpmv+FOw3OI6un0Xp9o2YwZDAdBgNVHQ4EFgQUL0DfVUI6tJEc
eklPnwFRtpoIP3QwHwYDVR0jBBgwFoAUL0DfVUI6tJEceklPnwFRtpoIP3QwFAYD
VR0RBA0wC4IJbG9jYWxob3N0MAwGA1UdEwEB/wQCMAAwCgYIKoZIzj0EAwIDSQAw
RgIhAKD0xeLX/mHGnjF3auWnwlVgWd79k/1O6zOm6SwWydrLAiEAiG1vyGpc8b+e
Qq11xbLsYh73jujxXgEEDRiZpAJYdLk=
-----END CERTIFICATE-----`
export const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOw730c0xhCRZKZNj
CWn5Ie02ORivs9jrspq4zb3Nr7KhRANCAARBsOVuRFU+lgkbFm5IxHC5EOPqNU77
h7hrkleyEP8/gBtTgRlQg8ZLAG4w5L9N5OKczPLpmv+FOw3OI6un0Xp9
-----END PRIVATE KEY-----`
