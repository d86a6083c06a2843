import { errorFromStatus, modelTransport, vendorErrorOf } from "@loopwright/provider-kit";
import type { OpenAI } from "openai";
import type { CallContext } from "./errors.ts";
import type { OpenAiOptions, OpenAiSettings } from "./options.ts";

/** One request of a client. */
export interface Posting {
  /** JSON. */
  readonly body: string;
  readonly isStreamed: boolean;
  readonly context: CallContext;
}

/**
 * Posts to the one path of an instance and gives the raw answer: its stream is read by ourselves, because the SDK's own reading is the
 * largest cost of a run. @throws AgentError for an answer with the status of an error; else what the SDK or the transport threw.
 */
export type Send = (posting: Posting) => Promise<Response>;

/** What all requests of a client have in common. */
interface Head {
  readonly url: string;
  readonly headers: Headers;
}

/** Makes the SDK's client, which says where requests go and with which headers: once, since that is as much work as the rest of a request. */
export async function createSender(settings: OpenAiSettings, key: string | undefined, options: OpenAiOptions): Promise<Send> {
  const path = settings.api === "chat" ? "/chat/completions" : "/responses";
  const transport = modelTransport(options.transport, {
    provider: settings.label,
    secrets: key === undefined ? [] : [key],
  });
  const client = await createClient(settings, { key, options, transport });
  const heads = new Map<boolean, Head>();
  const headOf = async (isStreamed: boolean): Promise<Head> => {
    const known = heads.get(isStreamed);
    if (known) return known;
    const headers = { "content-type": "application/json" };
    const { req, url } = await client.buildRequest({ method: "post", path, body: "{}", headers, stream: isStreamed });
    const made = { url, headers: new Headers(req.headers) };
    heads.set(isStreamed, made);
    return made;
  };
  return async ({ body, isStreamed, context }) => {
    const { url, headers } = heads.get(isStreamed) ?? (await headOf(isStreamed));
    // Headers of its own: a transport may write into them.
    const init: RequestInit = { method: "POST", headers: new Headers(headers), body, signal: context.signal };
    const response = await transport(url, init).catch((cause: unknown) => {
      throw new Error("Connection error.", { cause });
    });
    if (response.ok) return response;
    throw errorFromStatus({ ...context, ...(await saidIn(response)), status: response.status, headers: response.headers });
  };
}

/** What the body of an error says; nothing where it cannot be read. */
async function saidIn(response: Response): Promise<ReturnType<typeof vendorErrorOf>> {
  const text = await response.text().catch(() => "");
  return vendorErrorOf(text);
}

interface ClientOptions {
  readonly key: string | undefined;
  readonly options: OpenAiOptions;
  readonly transport: typeof fetch;
}

/** The SDK reads the environment for whatever it is not given, so it is given everything. */
async function createClient(settings: OpenAiSettings, { key, options, transport }: ClientOptions): Promise<OpenAI> {
  const { OpenAI } = await import("openai");
  return new OpenAI({
    apiKey: key ?? "none",
    adminAPIKey: null,
    webhookSecret: null,
    baseURL: settings.baseURL,
    organization: settings.organization,
    project: settings.project,
    maxRetries: 0,
    logLevel: "off",
    fetch: transport,
    defaultHeaders: { ...(key === undefined ? { authorization: null } : {}), ...options.headers },
  });
}
