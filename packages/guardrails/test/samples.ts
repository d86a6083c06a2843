/** Made-up secrets: none of them was ever issued. */
export const samples: { readonly [rule: string]: string } = {
  github: `ghp_${"wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"}`,
  aws: ["AKIA", "Q7Z3XK5W2LM4N6P8"].join(""),
  anthropic: `sk-ant-api03-${"Zq7".repeat(31)}AA`,
  slack: ["xoxb", "123456789012", "1234567890123", "aBcDeFgHiJkLmNoPqRsTuVwX"].join("-"),
  google: ["AIza", "SyD3x7K9mP2qR5tV8wY1zA4bC6eF0gH2j5L"].join(""),
  telegram: ["123456789", "AAE4x7K9mP2qR5tV8wY1zA4bC6eF0gH2j5L"].join(":"),
  privatekey: [
    "-----BEGIN RSA PRIVATE",
    ` KEY-----\n${"MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn7".repeat(4)}\n-----END RSA PRIVATE`,
    " KEY-----",
  ].join(""),
};
