/* Secrets that must never appear in the output or the files of a node. Each can be recognised, also by its beginning alone. */

/** The key that nodes have for the model. */
export const apiKey = "sk-CANARY-4f9d1c7be2a86053";
/** Of the user that nodes are at Redis. */
export const redisPassword = "pw-CANARY-8b60e5d3f7c9142a";
/** What callers of the second tenant prove themselves by. */
export const guestToken = "tk-CANARY-c21f7a94e08d563b";
/** The one that the S3 server of the rig knows. */
export const s3Secret = "s3cr3t-canary";

/** All of them, by what they are. */
export const secrets: { readonly [name: string]: string } = {
  "the key of the model": apiKey,
  "the password of Redis": redisPassword,
  "the token of a caller": guestToken,
  "the secret of the bucket": s3Secret,
};
