import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { onTestFinished } from "vitest";

/** A server on loopback; ends with the test. */
export async function served(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface IssuerKey {
  readonly jwk: JWK;
  sign(claims?: JWTPayload, header?: object): Promise<string>;
  /** With a header that a library would not write, and a signature that is right. */
  signOdd(header: object): Promise<string>;
}

/** A key pair of an issuer, with the claims that its tokens have. */
export async function issuerKey(kid: string, claims: JWTPayload = {}): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" },
    sign: (more = {}, header = {}) =>
      new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: "RS256", kid, ...header }).sign(privateKey),
    async signOdd(header) {
      const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
      const signed = `${encode({ alg: "RS256", kid, ...header })}.${encode(claims)}`;
      const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", privateKey, new TextEncoder().encode(signed));
      return `${signed}.${Buffer.from(signature).toString("base64url")}`;
    },
  };
}
