import type { VendorCall } from "@loopwright/provider-kit";
import type { OpenAI } from "openai";
import type { OpenAiOptions, OpenAiSettings } from "./options.ts";

/**
 * Posts to the one path of an instance and gives the raw answer: its stream is read by ourselves, because the SDK's own reading is the
 * largest cost of a run. @throws what the transport threw.
 */
export type Send = (call: Pick<VendorCall<string>, "body" | "streaming" | "signal" | "fetch">) => Promise<Response>;

/** What a sender needs beside the settings. */
export interface SenderOptions extends Pick<OpenAiOptions, "headers"> {
  /** Below the base URL, with a slash before it. Default: that of the settings' `api`. */
  readonly path?: string;
}

/** What all requests of a client have in common. */
interface Head {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes the SDK's client, which gives the address and the headers of requests. Called once: it costs as much as the rest of a request. */
export async function createSender(settings: OpenAiSettings, key: string | undefined, options: SenderOptions): Promise<Send> {
  const path = options.path ?? (settings.api === "chat" ? "/chat/completions" : "/responses");
  const client = await createClient(settings, key, options.headers);
  const heads = new Map<boolean, Head>();
  const headOf = async (isStreamed: boolean): Promise<Head> => {
    const known = heads.get(isStreamed);
    if (known) return known;
    const headers = { "content-type": "application/json" };
    const { req, url } = await client.buildRequest({ method: "post", path, body: "{}", headers, stream: isStreamed });
    const made = { url, headers: Object.fromEntries(new Headers(req.headers)) };
    heads.set(isStreamed, made);
    return made;
  };
  return async ({ body, streaming, signal, fetch }) => {
    const { url, headers } = heads.get(streaming) ?? (await headOf(streaming));
    // A copy: a transport may write into it. A record, because a `Headers` is sorted and checked each time that it is read.
    return await fetch(url, { method: "POST", headers: { ...headers }, body, signal }).catch((cause: unknown) => {
      throw new Error("Connection error.", { cause });
    });
  };
}

/** The SDK reads the environment for whatever it is not given, so it is given everything. */
async function createClient(settings: OpenAiSettings, key: string | undefined, headers: OpenAiOptions["headers"]): Promise<OpenAI> {
  const { OpenAI } = await import("openai");
  return new OpenAI({
    apiKey: key ?? "none",
    adminAPIKey: null,
    webhookSecret: null,
    baseURL: settings.baseURL,
    organization: settings.organization,
    project: settings.project,
    logLevel: "off",
    defaultHeaders: { ...(key === undefined ? { authorization: null } : {}), ...headers },
  });
}
