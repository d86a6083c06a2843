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
}

/** A key pair of an issuer, with the claims that its tokens have. */
export async function issuerKey(kid: string, claims: JWTPayload = {}): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" },
    sign: (more = {}, header = {}) =>
      new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: "RS256", kid, ...header }).sign(privateKey),
  };
}
