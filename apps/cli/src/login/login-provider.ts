import type { ModelProvider } from "@loopwright/core/ports";
import { openai } from "@loopwright/providers-openai";
import type { KeptLogin } from "./kept-login.ts";
import type { LoginTokens } from "./openai-login.ts";

/** OpenAI with the tokens of a login, which are read for each call. A provider is made for each token, so that none of its errors shows it. */
export function loginProvider(login: KeptLogin, model: string | undefined): ModelProvider {
  const shared = { baseURL: login.place.apiUrl, api: "responses", model: model ?? openai().defaultModel } as const;
  const base = openai({ ...shared, apiKey: "unused" });
  let made: { readonly token: string; readonly provider: ModelProvider } | undefined;
  const providerOf = ({ accessToken, accountId }: LoginTokens): ModelProvider => {
    if (made?.token !== accessToken) {
      const headers = accountId === undefined ? {} : { "chatgpt-account-id": accountId };
      made = { token: accessToken, provider: openai({ ...shared, apiKey: accessToken, headers }) };
    }
    return made.provider;
  };
  return {
    ...base,
    defaultModel: shared.model,
    async *stream(request, io) {
      io.signal.throwIfAborted();
      yield* providerOf(await login.tokens()).stream(request, io);
    },
  };
}
