/*
 * Owns: the credentials of a sign-in, encrypted with a key that is derived from the secret of its cookie.
 * Does not own: the secret (the browser has it), the place of the text (stored-principal).
 * Invariant: the store has a digest of the secret, which does not give the key, so a reader of the store cannot read the credentials.
 */

/** Headers with credentials, by their names in small letters. */
export type Credentials = { readonly [header: string]: string };

const ivBytes = 12;
const encoder = new TextEncoder();
const purpose = encoder.encode("loopwright sign-in");

/** The secret has 256 random bits, so the key needs no slow derivation. */
const keyOf = async (secret: string) => {
  const material = await crypto.subtle.importKey("raw", encoder.encode(secret), "HKDF", false, ["deriveKey"]);
  const how = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: purpose };
  return crypto.subtle.deriveKey(how, material, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
};

export async function sealCredentials(secret: string, credentials: Credentials): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
  const content = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, await keyOf(secret), encoder.encode(JSON.stringify(credentials)));
  return btoa(String.fromCharCode(...iv, ...new Uint8Array(content)));
}

/** `undefined`: the text was not encrypted with this secret. */
export async function openCredentials(secret: string, sealed: string): Promise<Credentials | undefined> {
  if (sealed === "") return undefined;
  try {
    const bytes = Uint8Array.from(atob(sealed), (one) => one.charCodeAt(0));
    const how = { name: "AES-GCM", iv: bytes.subarray(0, ivBytes) };
    const content = await crypto.subtle.decrypt(how, await keyOf(secret), bytes.subarray(ivBytes));
    return JSON.parse(new TextDecoder().decode(content)) as Credentials;
  } catch {
    return undefined;
  }
}
