import type { KeptLogin } from "./kept-login.ts";
import { loginSentinel } from "./openai-login.ts";

type Variables = Readonly<Record<string, string>>;

/**
 * What a script gets just before it runs: where its key is the mark of a login, the token of the login, the address of the API that takes it, and the model. Other
 * scripts get their variables as they are.
 */
export const loginVariables =
  (login: KeptLogin, model: string) =>
  async (variables: Variables): Promise<Variables> => {
    if (variables["OPENAI_API_KEY"] !== loginSentinel) return variables;
    const { accessToken } = await login.tokens();
    return { ...variables, OPENAI_API_KEY: accessToken, OPENAI_BASE_URL: login.place.apiUrl, REVIEW_MODEL: model };
  };
