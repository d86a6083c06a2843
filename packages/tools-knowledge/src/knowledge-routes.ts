import { AgentError, type JsonSchema } from "@loopwright/core";
import { type Knowledge, sharedCollection } from "./knowledge.ts";
import type { KnowledgeDocument } from "./store/knowledge-store.ts";

/** The sender of a request, as `Principal` of `@loopwright/server` has it. */
export interface KnowledgeCaller {
  readonly user: string;
  readonly scope: string;
  readonly roles?: readonly string[];
  readonly trusted?: boolean;
}

/** What a route is given, as `ExtensionContext` of `@loopwright/server` has it. */
interface RouteContext {
  readonly principal: KnowledgeCaller;
  readonly query: URLSearchParams;
  readonly request: Request;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** A route for `routes` of `createServer`. */
export interface KnowledgeRoute {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly body?: "bytes";
  readonly describes?: { readonly status?: number; readonly response?: JsonSchema };
  handle(context: RouteContext): Promise<Response>;
}

export interface KnowledgeRoutesOptions {
  /** Whether a caller may add and remove documents, which all users of the scope then read through their agents. Absent: there are no routes for it. */
  readonly mayChange?: (caller: KnowledgeCaller) => boolean | Promise<boolean>;
}

const [limitDefault, limitMax] = [50, 100];
const path = "/api/knowledge";

/**
 * `GET /api/knowledge?limit=&after=`: the documents that all sessions of the caller's scope search, by id, without their texts. Documents of chatbots and of sessions are
 * not among them. With `mayChange` also `POST /api/knowledge?id=&title=`, whose body is a file, and `DELETE /api/knowledge?id=`.
 */
export function knowledgeRoutes(
  knowledge: Pick<Knowledge, "list" | "add" | "remove">,
  { mayChange }: KnowledgeRoutesOptions = {},
): readonly KnowledgeRoute[] {
  return [listRoute(knowledge), ...(mayChange ? [addRoute(knowledge, mayChange), removeRoute(knowledge, mayChange)] : [])];
}

type MayChange = NonNullable<KnowledgeRoutesOptions["mayChange"]>;

const documentSchema: JsonSchema = {
  type: "object",
  required: ["id", "title", "kind", "passageCount"],
  properties: { id: { type: "string" }, title: { type: "string" }, kind: { type: "string" }, passageCount: { type: "integer" } },
};

const listRoute = (knowledge: Pick<Knowledge, "list">): KnowledgeRoute => ({
  method: "GET",
  path,
  id: "listKnowledge",
  summary: "The documents of the knowledge base of the caller's scope, without their texts.",
  async handle({ principal: { scope }, query }) {
    const limit = limitOf(query.get("limit"));
    const after = query.get("after") ?? "";
    const all = await knowledge.list({ scope, collection: sharedCollection });
    const later = all.filter(({ id }) => id > after).sort((one, other) => (one.id < other.id ? -1 : 1));
    const documents = later.slice(0, limit).map(shown);
    const last = documents.at(-1);
    return Response.json({ documents, ...(last && later.length > limit ? { next: last.id } : {}) });
  },
});

const addRoute = (knowledge: Pick<Knowledge, "add">, mayChange: MayChange): KnowledgeRoute => ({
  method: "POST",
  path,
  id: "addKnowledge",
  summary: "Learns a file for all users of the caller's scope, in place of the document of the same `id`. The body is the file.",
  body: "bytes",
  describes: { status: 201, response: documentSchema },
  async handle({ principal, query, request, body, signal }) {
    await check(principal, mayChange);
    const { scope } = principal;
    const title = query.get("title") ?? undefined;
    const content = { bytes: body as Uint8Array, mediaType: request.headers.get("Content-Type") ?? "" };
    const place = { scope, collection: sharedCollection };
    const { document } = await knowledge.add(
      place,
      { id: query.get("id") ?? "", ...content, ...(title === undefined ? {} : { title }) },
      { signal },
    );
    return Response.json(shown(document), { status: 201 });
  },
});

const removeRoute = (knowledge: Pick<Knowledge, "remove">, mayChange: MayChange): KnowledgeRoute => ({
  method: "DELETE",
  path,
  id: "removeKnowledge",
  summary: "Removes the document `id` of the knowledge base of the caller's scope, with its passages.",
  describes: { response: { type: "object", required: ["removed"], properties: { removed: { type: "boolean" } } } },
  async handle({ principal, query }) {
    await check(principal, mayChange);
    const removed = await knowledge.remove({ scope: principal.scope, collection: sharedCollection }, query.get("id") ?? "");
    return Response.json({ removed });
  },
});

const shown = ({ id, title, kind, passageCount }: KnowledgeDocument): Omit<KnowledgeDocument, "collection" | "embedding"> => ({
  ...{ id, title, kind, passageCount },
});

/** @throws AgentError FORBIDDEN */
async function check(caller: KnowledgeCaller, mayChange: MayChange): Promise<void> {
  if ((await mayChange(caller)) === true) return;
  throw new AgentError("FORBIDDEN", {
    message: "You may not change the knowledge base of this scope.",
    fix: "Ask an administrator of the scope.",
  });
}

/** @throws AgentError INPUT_INVALID */
function limitOf(text: string | null): number {
  if (text === null) return limitDefault;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= limitMax) return limit;
  throw new AgentError("INPUT_INVALID", { message: `\`limit\` is no number from 1 to ${limitMax}.`, fix: "Leave it out, or send one." });
}
