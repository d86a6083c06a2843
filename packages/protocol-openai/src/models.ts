import type { LoopwrightClient } from "@loopwright/client";
import { RequestRefused } from "./openai-error.ts";

/** An agent, as a model of OpenAI's API. */
export interface Model {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
}

/** The agents that the caller sees. */
export async function models(client: LoopwrightClient): Promise<readonly Model[]> {
  const { agents } = await client.agents();
  return agents.map(({ name }) => ({ id: name, object: "model", created: 0, owned_by: "loopwright" }));
}

/** @throws RequestRefused with 404 for a name that is no agent's */
export async function modelOf(client: LoopwrightClient, id: string): Promise<Model> {
  const found = (await models(client)).find((model) => model.id === id);
  if (found) return found;
  throw new RequestRefused(`There is no model \`${id}\`. \`GET /v1/models\` lists those that there are.`, {
    ...{ status: 404, param: "model", code: "model_not_found" },
  });
}
