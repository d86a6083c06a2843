import { createHash } from "node:crypto";
import { AgentError, isAgentError } from "@loopwright/core";
import type { SecretStore } from "@loopwright/core/ports";
import type { ResolveHost } from "@loopwright/url-guard";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthClientProvider,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { McpLimits } from "./mcp-limits.ts";
import { isStdio, type McpPlace, type McpServer } from "./mcp-server.ts";
import { httpTransport } from "./open-client.ts";
import type { Redaction } from "./server-text.ts";

export interface OAuthInSecretsOptions {
  /** Keeps the registration, the tokens and the open sign-in of each user, in the scope of the user. */
  readonly secrets: SecretStore;
  /** Names the server in the names of the secrets. */
  readonly server: string;
  /** Where the browser comes back to: the page hands its parameters to `McpTools.signIn`. */
  readonly redirectUrl: string;
  /** What the sign-in page calls the client. Default `Loopwright`. */
  readonly clientName?: string;
  readonly scope?: string;
  /** A client that is registered already. Default: the client registers itself. */
  readonly clientId?: string;
  /** Shows the user the address of the sign-in, which has http or https. Nothing is opened here. */
  onSignIn(url: URL, place: McpPlace): void | Promise<void>;
}

/**
 * Signs a user in to a server by OAuth with a browser, for `auth` of the server. A run that needs a sign-in continues without the server.
 * @example auth: oauthInSecrets({ secrets, server: "calendar", redirectUrl: "https://app.example/callback", onSignIn: (url, place) => show(url, place) })
 */
export function oauthInSecrets(options: OAuthInSecretsOptions): (place: McpPlace) => OAuthClientProvider & StateCheck {
  return (place) => {
    const { secrets, server, redirectUrl, clientName = "Loopwright", scope, clientId, onSignIn } = options;
    // Of the whole name of the user: two users never share a secret. The scope is that of the store.
    const owner = createHash("sha256").update(place.user).digest("hex");
    const nameOf = (what: string): string => `mcp.${server}.${owner}.${what}`;
    const read = async <T>(what: string): Promise<T | undefined> => {
      const text = await secrets.get(place.scope, nameOf(what));
      return text === undefined ? undefined : (JSON.parse(text) as T);
    };
    const keep = (what: string, value: unknown): Promise<void> => secrets.set(place.scope, nameOf(what), JSON.stringify(value));
    const metadata: OAuthClientMetadata = {
      redirect_uris: [redirectUrl],
      client_name: clientName,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...(scope === undefined ? {} : { scope }),
    };
    return {
      redirectUrl,
      clientMetadata: metadata,
      async state() {
        const state = crypto.randomUUID();
        await keep("state", state);
        return state;
      },
      isStateOf: async (state) => state !== null && (await read<string>("state")) === state,
      clientInformation: async () => (clientId === undefined ? read<OAuthClientInformationMixed>("client") : { client_id: clientId }),
      saveClientInformation: (client) => keep("client", client),
      tokens: () => read<StoredOAuthTokens>("tokens"),
      saveTokens: (tokens) => keep("tokens", tokens),
      saveCodeVerifier: (verifier) => keep("verifier", verifier),
      async codeVerifier() {
        const verifier = await read<string>("verifier");
        if (verifier === undefined) throw noSignIn();
        return verifier;
      },
      saveDiscoveryState: (state) => keep("discovery", state),
      discoveryState: () => read("discovery"),
      async redirectToAuthorization(url) {
        // A server chooses this address: anything but a page could be run by what opens it.
        if (!/^https?:$/.test(url.protocol)) throw noSignIn();
        await onSignIn(url, place);
      },
      async invalidateCredentials(what) {
        const kinds = {
          all: ["client", "tokens", "verifier", "discovery"],
          client: ["client"],
          tokens: ["tokens"],
          verifier: ["verifier"],
          discovery: ["discovery"],
        };
        for (const kind of kinds[what]) await secrets.remove(place.scope, nameOf(kind));
      },
    };
  };
}

/** Whether the state that a browser brought back is that of the open sign-in. */
interface StateCheck {
  isStateOf(state: string | null): Promise<boolean>;
}

interface SignInSetup {
  readonly servers: Readonly<Record<string, McpServer>>;
  readonly secrets?: SecretStore;
  readonly resolve?: ResolveHost;
  readonly limits: McpLimits;
  readonly redaction: Redaction;
}

interface SignInAnswer {
  readonly name: string;
  readonly place: McpPlace;
  readonly answer: URLSearchParams;
}

/** @throws AgentError INPUT_INVALID */
export async function finishSignIn(setup: SignInSetup, { name, place, answer }: SignInAnswer): Promise<void> {
  const server = Object.hasOwn(setup.servers, name) ? setup.servers[name] : undefined;
  if (server === undefined || isStdio(server) || !server.auth) throw noSignIn();
  const { secrets, resolve, limits, redaction } = setup;
  const provider: OAuthClientProvider & Partial<StateCheck> = server.auth(place);
  if (provider.isStateOf && !(await provider.isStateOf(answer.get("state")))) throw noSignIn();
  const transport = await httpTransport({ name, place, secrets, resolve, limits, redaction, server: { ...server, auth: () => provider } });
  try {
    await transport.finishAuth(answer);
  } catch (error) {
    throw isAgentError(error) ? error : noSignIn();
  } finally {
    await transport.close();
  }
}

const noSignIn = (): AgentError =>
  new AgentError("INPUT_INVALID", { message: "The sign-in to the MCP server cannot be finished.", fix: "Begin the sign-in anew." });
