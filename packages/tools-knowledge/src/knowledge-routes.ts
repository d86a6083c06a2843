import { AgentError } from "@loopwright/core";
import { type Knowledge, sharedCollection } from "./knowledge.ts";

/** What a route is given, as `ExtensionContext` of `@loopwright/server` has it. */
interface RouteContext {
  readonly principal: { readonly scope: string };
  readonly query: URLSearchParams;
}

/** A route for `routes` of `createServer`. */
export interface KnowledgeRoute {
  readonly method: "GET";
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  handle(context: RouteContext): Promise<Response>;
}

const [limitDefault, limitMax] = [50, 100];

/**
 * `GET /api/knowledge?limit=&after=`: the documents that all sessions of the caller's scope search, by id, without their texts. Documents of chatbots and of sessions are
 * not among them.
 */
export function knowledgeRoutes(knowledge: Pick<Knowledge, "list">): readonly KnowledgeRoute[] {
  return [
    {
      method: "GET",
      path: "/api/knowledge",
      id: "listKnowledge",
      summary: "The documents of the knowledge base of the caller's scope, without their texts.",
      async handle({ principal: { scope }, query }) {
        const limit = limitOf(query.get("limit"));
        const after = query.get("after") ?? "";
        const all = await knowledge.list({ scope, collection: sharedCollection });
        const later = all.filter(({ id }) => id > after).sort((one, other) => (one.id < other.id ? -1 : 1));
        const documents = later.slice(0, limit).map(({ id, title, kind, passageCount }) => ({ id, title, kind, passageCount }));
        const last = documents.at(-1);
        return Response.json({ documents, ...(last && later.length > limit ? { next: last.id } : {}) });
      },
    },
  ];
}

/** @throws AgentError INPUT_INVALID */
function limitOf(text: string | null): number {
  if (text === null) return limitDefault;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= limitMax) return limit;
  throw new AgentError("INPUT_INVALID", { message: `\`limit\` is no number from 1 to ${limitMax}.`, fix: "Leave it out, or send one." });
}
