import { memorySecrets } from "@loopwright/core/memory";
import { McpServer } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { mcpTools, oauthInSecrets } from "../src/index.ts";
import { type ServedMcp, serveMcp } from "./http-server.ts";
import { useMcp } from "./use-mcp.ts";

/** The user of each token, as the authorization server knows it. */
const tokens = new Map<string, string>();
const codes = new Map<string, string>();
let authorizationEndpoint: string | undefined;
let served: ServedMcp;

/** A small authorization server beside the MCP server: registration, a page without questions, tokens for a code with its verifier. */
async function authorize(request: Request): Promise<Response | undefined> {
  const url = new URL(request.url);
  const { origin } = served;
  if (url.pathname.startsWith("/.well-known/oauth-protected-resource"))
    return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
  if (url.pathname.startsWith("/.well-known/"))
    return Response.json({
      issuer: origin,
      authorization_endpoint: authorizationEndpoint ?? `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
    });
  if (url.pathname === "/register") return Response.json({ ...((await request.json()) as object), client_id: "client-1" }, { status: 201 });
  if (url.pathname === "/token") {
    const form = new URLSearchParams(await request.text());
    const challenge = codes.get(form.get("code") ?? "");
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(form.get("code_verifier") ?? ""));
    if (challenge === undefined || Buffer.from(digest).toString("base64url") !== challenge)
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    const token = `token-CANARY-${tokens.size + 1}`;
    tokens.set(token, "ada");
    return Response.json({ access_token: token, token_type: "Bearer", expires_in: 3600 });
  }
  const bearer = /^Bearer (.*)$/.exec(request.headers.get("authorization") ?? "")?.[1];
  if (bearer !== undefined && tokens.has(bearer)) return undefined;
  const metadata = `${origin}/.well-known/oauth-protected-resource`;
  return new Response(null, { status: 401, headers: { "www-authenticate": `Bearer resource_metadata="${metadata}"` } });
}

beforeAll(async () => {
  served = await serveMcp(() => {
    const server = new McpServer({ name: "calendar", version: "1.0.0" });
    server.registerTool("today", { description: "What is on today.", inputSchema: z.object({}) }, (_, { http }) => ({
      content: [{ type: "text", text: `Lunch, asked by ${http?.req?.headers.get("authorization")}.` }],
    }));
    return server;
  }, authorize);
});
afterAll(() => served.close());

it("A user signs in to a server that asks for it, and the token is kept as a secret of that user alone", async () => {
  const secrets = memorySecrets();
  const shown: URL[] = [];
  const policy = { privateOrigins: [served.origin] };
  const auth = oauthInSecrets({
    secrets,
    server: "calendar",
    redirectUrl: "https://app.example/back",
    onSignIn: (url) => void shown.push(url),
  });
  const mcp = mcpTools({ servers: { calendar: { url: served.url, policy, auth } } });

  const before = await useMcp(mcp, []);
  expect(before.status).toBe("completed");
  expect(before.requests).toContain("The MCP server `calendar` asks for a sign-in (sign_in).");

  const page = shown.at(-1) as URL;
  expect(page.href.startsWith(`${served.origin}/authorize?`)).toBe(true);
  codes.set("code-1", page.searchParams.get("code_challenge") ?? "");
  const ada = { scope: "acme", user: "ada" };
  const state = page.searchParams.get("state") ?? "";
  await expect(mcp.signIn("calendar", ada, new URLSearchParams({ code: "code-1", state: "forged" }))).rejects.toThrow("cannot be finished");
  await expect(mcp.signIn("calendar", ada, new URLSearchParams({ code: "wrong", state }))).rejects.toThrow("cannot be finished");
  await mcp.signIn("calendar", ada, new URLSearchParams({ code: "code-1", state }));

  const { results, log, requests } = await useMcp(mcp, [{ name: "calendar__today" }]);
  expect(results[0]?.text).toContain("Lunch, asked by Bearer [secret].");
  expect(log + requests).not.toContain("token-CANARY");
  const other = await useMcp(mcp, [], { user: "bob" });
  expect(other.requests).toContain("asks for a sign-in");
  await mcp.close();
});

it("Users whose long names begin alike, and scopes, share no token", async () => {
  const auth = oauthInSecrets({
    secrets: memorySecrets(),
    server: "calendar",
    redirectUrl: "https://app.example/back",
    onSignIn: () => {},
  });
  const issuer = `https://sign-in.example/${"tenants/".repeat(20)}`;
  await auth({ scope: "acme", user: `${issuer}ada` }).saveTokens({ access_token: "token-1", token_type: "Bearer" });
  expect(await auth({ scope: "acme", user: `${issuer}ada` }).tokens()).toMatchObject({ access_token: "token-1" });
  expect(await auth({ scope: "acme", user: `${issuer}bob` }).tokens()).toBeUndefined();
  expect(await auth({ scope: "other", user: `${issuer}ada` }).tokens()).toBeUndefined();
});

it("An address of a sign-in that is no page is never shown (M03)", async () => {
  authorizationEndpoint = "javascript:alert(1)";
  const shown: URL[] = [];
  const auth = oauthInSecrets({
    secrets: memorySecrets(),
    server: "calendar",
    redirectUrl: "https://app.example/back",
    onSignIn: (url) => void shown.push(url),
  });
  const mcp = mcpTools({ servers: { calendar: { url: served.url, policy: { privateOrigins: [served.origin] }, auth } } });
  const [survey] = await mcp.survey({ scope: "acme", user: "ada" });
  await mcp.close();
  authorizationEndpoint = undefined;
  expect(survey?.error?.code).toBe("TOOL_FAILED");
  expect(shown).toEqual([]);
});
