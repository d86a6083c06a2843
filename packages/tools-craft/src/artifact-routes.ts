import { AgentError, type Message } from "@loopwright/core";
import { artifactOf, artifactsOf } from "./artifacts.ts";

/** What a route is given, as `ExtensionContext` of `@loopwright/server` has it. */
interface RouteContext {
  readonly params: { readonly [name: string]: string };
  readonly query: URLSearchParams;
  readonly url: string;
  fetch(request: Request): Promise<Response>;
}

/** A route for `routes` of `createServer`. */
export interface ArtifactRoute {
  readonly method: "GET";
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  handle(context: RouteContext): Promise<Response>;
}

/**
 * Routes over the artifacts of sessions: `/api/artifacts/:session` lists them without their contents, `/api/artifacts/:session/:artifact` gives one with its
 * content, the last version or `?version=<n>`. A caller that may read the session may read them.
 */
export const artifactRoutes: readonly ArtifactRoute[] = [
  {
    method: "GET",
    path: "/api/artifacts/:session",
    id: "listArtifacts",
    summary: "The artifacts of a session, each with its versions, without their contents.",
    handle: (context) =>
      answer(context, (messages) => ({
        artifacts: artifactsOf(messages).map(({ id, versions }) => ({
          id,
          versions: versions.map(({ content, ...version }) => ({ ...version, characters: content.length })),
        })),
      })),
  },
  {
    method: "GET",
    path: "/api/artifacts/:session/:artifact",
    id: "readArtifact",
    summary: "An artifact: its last version, or the one that `version` names.",
    handle: (context) => answer(context, (messages) => readOne(messages, context)),
  },
];

function readOne(messages: readonly Message[], { params, query }: RouteContext): object {
  const typed = query.get("version");
  const artifact = artifactOf(messages, params["artifact"] ?? "", typed === null ? undefined : Number(typed));
  if (artifact) return artifact;
  const message = "The session has no such artifact, or not this version of it.";
  throw new AgentError("FILE_NOT_FOUND", { message, fix: "List the artifacts of the session." });
}

/** Reads the session as the caller; what the server refuses is the answer. */
async function answer({ params, url, fetch }: RouteContext, of: (messages: readonly Message[]) => object): Promise<Response> {
  const response = await fetch(new Request(`${url}/api/sessions/${encodeURIComponent(params["session"] ?? "")}`));
  if (!response.ok) return response;
  const { messages } = (await response.json()) as { readonly messages: readonly { readonly message: Message }[] };
  return Response.json(of(messages.map(({ message }) => message)));
}
